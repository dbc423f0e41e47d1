#include "import/sonde_run/cupti/cupti_companion.hpp"

#include <string.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "import/sonde_run/cupti/block_reader.hpp"
#include "import/sonde_run/cupti/record_reader.hpp"
#include "import/text/utf8.hpp"
#include "import/trace_event/correlation.hpp"
#include "trace/cupti_file.hpp"

namespace sonde {
namespace {

using cupti::FileHeader;

template <std::size_t Size>
std::string text_of(const char (&field)[Size]) {
  return mend_utf8(std::string_view(field, ::strnlen(field, Size)));
}

void add_devices(const FileHeader& header, TraceMeta& meta) {
  for (std::size_t i = 0; i < std::min<std::size_t>(header.device_count, cupti::kMaxDevices); ++i) {
    const cupti::DeviceFacts& facts = header.devices[i];
    Device device;
    device.id = static_cast<std::int64_t>(i);
    device.name = text_of(facts.name);
    device.memory_bytes =
        static_cast<std::int64_t>(std::min<std::uint64_t>(facts.memory_bytes, INT64_MAX));
    device.compute_major = facts.compute_major;
    device.compute_minor = facts.compute_minor;
    device.multiprocessors = facts.multiprocessors;
    device.max_threads_per_multiprocessor = facts.max_threads_per_multiprocessor;
    device.warp_size = facts.warp_size;
    meta.devices.push_back(std::move(device));
  }
  meta.device_family = "CUDA";
  const auto add = [&](const char* key, std::uint32_t value) {
    if (value != 0) meta.properties.emplace_back(key, std::to_string(value));
  };
  add("cuda_driver_version", header.driver_version);
  add("cupti_version", header.cupti_version);
}

std::string other_tool(const FileHeader& header) {
  const std::string name = text_of(header.other_tool);
  return name.empty() ? "another tool" : "another tool (" + name + ")";
}

void add_header_losses(const FileHeader& header, const cupti::RecordReader& reader,
                       LossLedger& losses) {
  if (header.state == cupti::State::Failed) {
    std::string reason = text_of(header.reason);
    if (header.other_tool_seen > 0) reason = other_tool(header) + " uses CUPTI in this process";
    losses.add("no_gpu_data", Severity::Warning, "No GPU data: " + reason);
    return;
  }
  if (header.other_tool_seen > 0) {
    losses.add("gpu_other_tool", Severity::Warning,
               "GPU records that " + other_tool(header) +
                   " took over; the GPU's work of that time is not here",
               header.other_tool_seen);
  }
  if (header.call_places == cupti::CallPlaces::Refused) {
    losses.add("gpu_call_places", Severity::Info,
               "The lines that launched GPU work are not known: " + other_tool(header) +
                   " was subscribed to CUPTI");
  }
  if (header.dropped_records > 0) {
    losses.add("gpu_dropped_records", Severity::Warning, "GPU records that CUPTI had no room for",
               header.dropped_records);
  }
  if (header.state == cupti::State::Full) {
    losses.add("gpu_limit", Severity::Warning,
               header.full_reason == 0
                   ? "The size limit was reached; the GPU's work behind it is not here"
                   : std::string("There was no more space (") +
                         std::strerror(static_cast<int>(header.full_reason)) +
                         "); the GPU's work behind it is not here",
               std::max<std::uint64_t>(header.refused_records, 1));
  }
  if (header.clean_end != 1) {
    losses.add("gpu_unclean_end", Severity::Info,
               "The program ended without its last GPU records being delivered; records read from "
               "buffers in use:",
               std::max<std::uint64_t>(reader.salvaged(), 1));
  }
}

class CuptiCompanion : public Companion {
 public:
  void read(ByteSource& source, const CompanionContext& context) override {
    LossLedger& losses = context.builder.losses();
    cupti::BlockReader blocks(source, losses);
    FileHeader header{};
    if (!blocks.read_header(header)) return;
    cupti::RecordReader records(header, context);
    blocks.read_blocks([&](const cupti::RecordBlock& block) { records.add_block(block); },
                       [&](const cupti::Name& name) { records.add_name(name); });
    records.finish();
    if (context.places != nullptr) context.places->find_calls(context.builder);
    if (header.state != cupti::State::Failed) add_devices(header, context.builder.meta());
    add_header_losses(header, records, losses);
    has_records_ = records.records() > 0;
  }

  void link(TraceBuilder& builder) override {
    if (has_records_) link_by_correlation(builder);
  }

 private:
  bool has_records_ = false;
};

}  // namespace

CompanionType cupti_companion() {
  return {cupti::kFileEnding, "GPU records",
          [](std::string_view head) {
            return head.starts_with(std::string_view(cupti::kMagic, sizeof cupti::kMagic));
          },
          []() -> std::unique_ptr<Companion> { return std::make_unique<CuptiCompanion>(); }};
}

}  // namespace sonde
