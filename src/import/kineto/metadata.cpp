#include "import/kineto/metadata.hpp"
#include "trace/selection.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace sonde {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::int64_t number(object from, std::string_view key, std::int64_t fallback = 0) {
  std::int64_t value = 0;
  return from[key].get(value) == simdjson::SUCCESS ? value : fallback;
}

std::string text(object from, std::string_view key) {
  std::string_view value;
  return from[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

std::int64_t whole_number(std::string_view raw, std::int64_t fallback) {
  if (raw.size() >= 2 && raw.front() == '"') raw = raw.substr(1, raw.size() - 2);
  std::int64_t value = 0;
  const auto parsed = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  return parsed.ec == std::errc() ? value : fallback;
}

bool read_devices(const std::string& raw, TraceMeta& meta) {
  simdjson::dom::parser parser;
  array devices;
  if (parser.parse(raw).get(devices) != simdjson::SUCCESS) return false;
  for (const element entry : devices) {
    object device;
    if (entry.get(device) != simdjson::SUCCESS) continue;
    Device d;
    d.id = number(device, "id");
    d.name = text(device, "name");
    d.memory_bytes = number(device, "totalGlobalMem");
    d.compute_major = number(device, "computeMajor");
    d.compute_minor = number(device, "computeMinor");
    d.multiprocessors = number(device, "numSms", number(device, "maxComputeUnits"));
    d.max_threads_per_multiprocessor = number(device, "maxThreadsPerMultiprocessor");
    d.warp_size = number(device, "warpSize");
    meta.devices.push_back(std::move(d));
  }
  return true;
}

bool read_distributed(const std::string& raw, TraceMeta& meta) {
  simdjson::dom::parser parser;
  object info;
  if (parser.parse(raw).get(info) != simdjson::SUCCESS) return false;
  meta.backend = text(info, "backend");
  meta.rank = number(info, "rank", -1);
  meta.world_size = number(info, "world_size", -1);
  return true;
}

bool read_base_time(const std::string& raw, TraceMeta& meta) {
  const std::int64_t base = whole_number(raw, kNoNumber);
  if (base < -kMaxTime || base > kMaxTime) return false;
  meta.base_time = base;
  meta.wall_clock = true;
  return true;
}

// 12040 -> "12.4"
std::string cuda_version(std::int64_t packed) {
  return std::to_string(packed / 1000) + "." + std::to_string(packed % 1000 / 10);
}

bool uses(const TraceBuilder& builder, std::string_view name) {
  return const_cast<TraceBuilder&>(builder).strings().find(name).valid();
}

}  // namespace

void read_kineto_metadata(const Metadata& metadata, TraceBuilder& builder) {
  TraceMeta& meta = builder.meta();
  for (const auto& [key, value] : metadata) {
    bool usable = true;
    if (key == "deviceProperties")
      usable = read_devices(value, meta);
    else if (key == "distributedInfo")
      usable = read_distributed(value, meta);
    else if (key == "baseTimeNanoseconds")
      usable = read_base_time(value, meta);
    else if (key == "profile_memory")
      meta.profile_memory = value != "0" && value != "false";
    else if (key == "with_stack")
      meta.with_stack = value != "0" && value != "false";
    else if (key == "record_shapes")
      meta.record_shapes = value != "0" && value != "false";
    else if (key == "with_modules")
      meta.with_modules = value != "0" && value != "false";
    else if (key == "with_flops")
      meta.with_flops = value != "0" && value != "false";
    if (!usable) {
      builder.losses().add(
          "metadata_damaged", Severity::Warning,
          "A top-level value of the file is not well-formed JSON; it was passed over.", 1,
          LossLedger::kNoOffset, value);
    }
    constexpr std::size_t kMaxKept = 4096;
    if (key != "deviceProperties") meta.properties.emplace_back(key, value.substr(0, kMaxKept));
  }
}

void guess_kineto_origin(TraceBuilder& builder) {
  TraceMeta& meta = builder.meta();
  bool hip = false;
  bool runtime = false;
  bool device = false;
  bool fractions = false;
  const SliceColumns& slices = builder.slices();
  // Of a piece, the whole file tells.
  if (const Selection* selection = builder.selection()) {
    fractions = selection->has_fractions();
    runtime = selection->has_calls();
    device = selection->has_device_work();
    hip = selection->has_hip_calls();
  }
  for (std::uint32_t i = 0; i < slices.size() && !(fractions && device && runtime); ++i) {
    const SliceId slice(i);
    const SliceKind kind = slices.kind(slice);
    fractions = fractions || (slices.start(slice) + meta.origin) % 1000 != 0 ||
                slices.duration(slice) % 1000 != 0;
    runtime = runtime || is_launch_call(kind);
    device = device || is_device_work(kind);
  }
  const SideTable<LaunchRow>& launches = builder.launches();
  constexpr std::size_t kEnoughCalls = 1000;
  for (std::size_t i = 0; i < std::min(launches.size(), kEnoughCalls) && !hip; ++i) {
    hip = builder.text(slices.name(launches.key(i))).starts_with("hip");
  }
  const bool amd = hip || (!meta.devices.empty() && meta.devices[0].name.starts_with("AMD"));
  if (uses(builder, "mtia_ccp_events") || uses(builder, "mtia_runtime"))
    meta.device_family = "MTIA";
  else if (uses(builder, "xpu_runtime") || uses(builder, "xpu_driver"))
    meta.device_family = "XPU";
  else if (amd && (device || runtime))
    meta.device_family = "ROCm";
  else if (device || runtime)
    meta.device_family = "CUDA";

  const auto has_key = [&](std::string_view key) {
    for (const auto& property : meta.properties) {
      if (property.first == key) return true;
    }
    return false;
  };
  if (meta.wall_clock)
    meta.version = "torch 2.4 or newer";
  else if (fractions)
    meta.version = "torch 2.3 or 2.4";
  else if (has_key("record_shapes") || has_key("with_stack") || has_key("profile_memory") ||
           uses(builder, "ac2g") || uses(builder, "cpu_op"))
    meta.version = "torch 1.12 to 2.2";
  else if (!meta.devices.empty() || has_key("distributedInfo") || has_key("traceName"))
    meta.version = "torch 1.9 to 1.11";
  else
    meta.version = "torch 1.8";
  for (const auto& [key, value] : meta.properties) {
    if (key == "cuda_runtime_version")
      meta.version += ", CUDA " + cuda_version(whole_number(value, 0));
    if (key == "hip_runtime_version") meta.version += ", HIP " + value;
  }
  // Until 2024 the file's times were Unix times.
  constexpr Nanos kYear2001 = Nanos{1'000'000'000} * 1'000'000'000;
  if (!meta.wall_clock && builder.whole_origin() > kYear2001) {
    meta.wall_clock = true;
    meta.base_time = 0;
  }
}

}  // namespace sonde
