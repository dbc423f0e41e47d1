#include "import/mxnet/mxnet.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "import/json/space.hpp"
#include "import/mxnet/dump_mender.hpp"
#include "import/mxnet/memory.hpp"
#include "import/mxnet/pairing.hpp"
#include "import/trace_event/trace_event.hpp"

namespace sonde {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether `"key": "value", "ph"` stands in the text, with any blanks: the order of MXNet's members.
bool has_record_of(std::string_view text, std::string_view category) {
  constexpr std::string_view kKey = "\"cat\"";
  for (std::size_t at = text.find(kKey); at != std::string_view::npos;
       at = text.find(kKey, at + 1)) {
    std::size_t i = at + kKey.size();
    bool same = true;
    for (const std::string_view part :
         {std::string_view(":"), category, std::string_view(","), std::string_view("\"ph\"")}) {
      while (i < text.size() && is_space(text[i])) ++i;
      same = same && text.substr(i, part.size()) == part;
      i += part.size();
    }
    if (same) return true;
  }
  return false;
}

// Whether the list of events begins in a way that no JSON does: in the middle of a dump, or with a
// comma.
bool begins_oddly(std::string_view head) {
  if (!looks_like_trace_events(head)) return true;
  const auto behind = [&](std::size_t i) {
    for (++i; i < head.size() && is_space(head[i]);) ++i;
    return head.substr(std::min(i, head.size()));
  };
  const std::size_t brace = head.find('{');
  const std::size_t bracket = head.find('[');
  if (brace < bracket && behind(brace).starts_with("\"name\"")) return true;  // an event by itself
  return bracket != std::string_view::npos && behind(bracket).starts_with(",");
}

// The number behind "gpu/", or -1.
std::int32_t gpu_ordinal(std::string_view device) {
  constexpr std::string_view kGpu = "gpu/";
  if (!device.starts_with(kGpu)) return -1;
  device.remove_prefix(kGpu.size());
  std::int32_t number = -1;
  const auto parsed = std::from_chars(device.data(), device.data() + device.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == device.data() + device.size() ? number : -1;
}

// A CUDA build names 32 GPUs in every file: only those that worked are devices of the trace.
void add_gpu(std::int32_t ordinal, std::string_view name, TraceMeta& meta) {
  meta.device_family = "CUDA";
  for (const Device& known : meta.devices) {
    if (known.id == ordinal) return;
  }
  Device device;
  device.id = ordinal;
  device.name = name;
  meta.devices.push_back(std::move(device));
}

// Names that the file leaves open, and what the tracks hold. Ids of threads are hashes over all 64
// bits: those that would read as negative get their own text. A track of counters has no other name
// than its category.
void describe_tracks(TraceBuilder& builder) {
  for (const CounterValue& value : builder.counters()) {
    Track& track = builder.track(value.track);
    if (track.slices == 0) track.type = TrackType::Counter;
  }
  for (std::size_t t = 0; t < builder.track_count(); ++t) {
    Track& track = builder.track(TrackId(t));
    if (!track.process.valid()) {
      track.process = builder.intern("device " + std::to_string(track.pid));
    }
    track.device = gpu_ordinal(builder.text(track.process));
    if (track.tid < 0 && track.type != TrackType::Counter)
      track.name = builder.intern(std::to_string(static_cast<std::uint64_t>(track.tid)));
    if (track.device >= 0 && track.slices > 0) {
      add_gpu(track.device, builder.text(track.process), builder.meta());
    }
  }
}

std::string_view version_text(MxnetGeneration generation) {
  switch (generation) {
    case MxnetGeneration::UpTo11:
      return "MXNet 1.1 or older";
    case MxnetGeneration::From16:
      return "MXNet 1.6 or newer";
    case MxnetGeneration::From12:
      break;
  }
  return "MXNet 1.2 or newer";
}

}  // namespace

bool looks_like_mxnet(std::string_view head) {
  if (head.find('{') == std::string_view::npos || !contains(head, "\"ph\"")) return false;
  const bool devices = contains(head, "\"process_name\"") &&
                       (contains(head, "\"cpu/0\"") || contains(head, "\"gpu/0\"") ||
                        contains(head, "\"cpu pinned/\""));
  if (devices) return true;
  for (const std::string_view category :
       {"\"MXNET_C_API\"", "\"Device Storage\"", "\"Custom Operator\""}) {
    if (has_record_of(head, category)) return true;
  }
  return begins_oddly(head) &&
         (has_record_of(head, "\"operator\"") || has_record_of(head, "\"category\""));
}

Result<Trace> import_mxnet(const ImportInput& input) {
  TraceBuilder builder;
  builder.meta().format = "mxnet";
  builder.meta().producer = "MXNet profiler";
  DumpMender mended(input.source);
  MxnetGeneration generation = MxnetGeneration::From12;
  Result<EventFileFacts> facts =
      read_trace_events({mended, input.disk_bytes, input.path, input.options}, Dialect::MXNet,
                        builder, [&](std::span<const HalfSlice> halves, TraceBuilder& into) {
                          generation = pair_mxnet_halves(halves, into);
                          add_mxnet_allocations(into);
                        });
  if (!facts) return facts.error();
  describe_tracks(builder);
  TraceMeta& meta = builder.meta();
  meta.version = version_text(generation);
  // From 1.2 on times are Unix times; before they count from the start of the profiler.
  constexpr Nanos kYear2001 = Nanos{1'000'000'000} * 1'000'000'000;
  meta.wall_clock = meta.origin > kYear2001;
  return builder.finish();
}

}  // namespace sonde
