#include "export/chrome/metadata.hpp"

#include <string_view>

#include "export/categories.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

void append_member(std::string& out, std::string_view key, std::string_view json) {
  append_json_text(out, key);
  out += ": ";
  out += json;
  out += ",\n";
}

std::string devices_json(const std::vector<Device>& devices) {
  std::string out = "[";
  for (const Device& device : devices) {
    if (out.size() > 1) out += ",";
    out += "\n{\"id\": ";
    append_integer(out, device.id);
    out += ", \"name\": ";
    append_json_text(out, device.name);
    const auto number = [&](std::string_view key, std::int64_t value) {
      out += ", \"";
      out += key;
      out += "\": ";
      append_integer(out, value);
    };
    number("totalGlobalMem", device.memory_bytes);
    number("computeMajor", device.compute_major);
    number("computeMinor", device.compute_minor);
    number("maxThreadsPerMultiprocessor", device.max_threads_per_multiprocessor);
    number("warpSize", device.warp_size);
    number("numSms", device.multiprocessors);
    out += '}';
  }
  return out + "]";
}

// From the numbers, where the text in the file was too long to be kept whole.
std::string distributed_json(const TraceMeta& meta) {
  std::string out = "{\"backend\": ";
  append_json_text(out, meta.backend);
  out += ", \"rank\": ";
  append_integer(out, meta.rank);
  out += ", \"world_size\": ";
  append_integer(out, meta.world_size);
  return out + "}";
}

// Members that are written from what they mean.
bool is_written_elsewhere(std::string_view key) {
  return key == "deviceProperties" || key == "distributedInfo" || key == "baseTimeNanoseconds" ||
         key == "traceEvents" || key == "stackFrames" || key == "samples";
}

// What is known of a trace of another source.
std::string other_data(const TraceMeta& meta) {
  std::string other(kWrittenBySonde);
  other += ", \"source\": ";
  append_json_text(other, meta.producer.empty() ? meta.format : meta.producer);
  if (meta.wall_clock) {
    // A text: a reader of doubles would lose its last digits.
    other += ", \"unix_ns_of_time_0\": \"";
    append_integer(other, meta.base_time + meta.origin);
    other += '"';
  }
  if (!meta.devices.empty()) other += ", \"devices\": " + devices_json(meta.devices);
  return other + "}";
}

}  // namespace

std::size_t append_chrome_metadata(std::string& out, const Trace& trace) {
  const TraceMeta& meta = trace.meta();
  const bool kineto = meta.format == "kineto";
  const bool is_trace_event = kineto || meta.format == "chrome";
  const auto property = [&](std::string_view key) -> const std::string* {
    for (const auto& [name, value] : meta.properties) {
      if (name == key && is_json_value(value)) return &value;
    }
    return nullptr;
  };
  if (!is_trace_event) append_member(out, "otherData", other_data(meta));
  if (kineto && property("schemaVersion") == nullptr) append_member(out, "schemaVersion", "1");
  if (kineto && !meta.devices.empty())
    append_member(out, "deviceProperties", devices_json(meta.devices));
  if (const std::string* text = property("distributedInfo"))
    append_member(out, "distributedInfo", *text);
  else if (meta.rank >= 0 || !meta.backend.empty())
    append_member(out, "distributedInfo", distributed_json(meta));
  if (kineto && meta.wall_clock &&
      (meta.base_time != 0 || property("baseTimeNanoseconds") != nullptr))
    append_member(out, "baseTimeNanoseconds", std::to_string(meta.base_time));
  std::size_t cut = 0;  // longer than what the reader keeps
  for (const auto& [key, value] : meta.properties) {
    if (!is_json_value(value)) ++cut;
    const bool own = key == "otherData" && !is_trace_event;
    if (own || is_written_elsewhere(key)) continue;
    if (is_json_value(value)) {
      append_member(out, key, value);
    } else if (key == "otherData" && value.starts_with(kWrittenBySonde)) {
      append_member(out, key, std::string(kWrittenBySonde) + "}");
    }
  }
  return cut;
}

}  // namespace sonde
