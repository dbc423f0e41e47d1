#include "import/memory_snapshot/memory_snapshot.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "base/json_writer.hpp"
#include "import/kineto/categories.hpp"
#include "import/memory_snapshot/device_history.hpp"

namespace sonde {
namespace {

constexpr std::int64_t kMaxDevices = 1024;

// torch's own pickler, which writes snapshots from C++, wraps typed lists into a call.
PickleValue plain(const PickleValue& value) {
  return value.is(PickleType::Object) && value.module() == "torch.jit._pickle"
             ? value.arguments().item(0)
             : value;
}

// Sums of sizes from a file never leave 0 … 2^62.
void add_capped(std::int64_t& sum, std::int64_t bytes) {
  sum = std::clamp<std::int64_t>(sum + bytes, 0, std::int64_t{1} << 62);
}

// What the snapshot says about each device, as numbers of its own.
struct Totals {
  std::int64_t segments = 0;
  std::int64_t reserved = 0;
  std::int64_t blocks = 0;
  std::int64_t allocated = 0;
  std::int64_t requested = 0;  // of allocated blocks
  std::int64_t pending = 0;    // freed, but streams still use it
  std::int64_t inactive = 0;
};

std::string totals_json(const std::map<std::int64_t, Totals>& devices) {
  JsonWriter json;
  json.begin_array();
  for (const auto& [device, totals] : devices) {
    json.begin_object();
    json.member("device", device);
    json.member("segments", totals.segments);
    json.member("reserved_bytes", totals.reserved);
    json.member("blocks", totals.blocks);
    json.member("allocated_bytes", totals.allocated);
    json.member("pending_free_bytes", totals.pending);
    json.member("inactive_bytes", totals.inactive);
    if (totals.requested > 0) {
      json.member("requested_bytes", totals.requested);
      json.member("rounding_bytes", totals.allocated - totals.requested);
    }
    json.end_object();
  }
  json.end_array();
  return json.take();
}

class SnapshotReader {
 public:
  SnapshotReader(const PickleDocument& document, TraceBuilder& builder)
      : document_(document), builder_(builder), names_(builder), stacks_(builder, names_) {}

  void read() {
    const PickleValue root = document_.root();
    // A bare list of segments is what the oldest snapshots are.
    const PickleValue segments = plain(root.is(PickleType::List) ? root : root.find("segments"));
    for (std::size_t i = 0; i < segments.size(); ++i) add_segment(segments.item(i));
    const PickleValue traces = plain(root.find("device_traces"));
    for (std::size_t d = 0; d < traces.size(); ++d) {
      const PickleValue entries = plain(traces.item(d));
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const PickleValue entry = entries.item(i);
        if (!once(entry)) continue;
        ++entries_;
        if (DeviceHistory* device = history(static_cast<std::int64_t>(d))) device->add_entry(entry);
      }
    }
    read_annotations(plain(root.find("external_annotations")));
    Nanos first = first_annotation_;
    Nanos last = last_annotation_;
    for (const auto& [device, known] : devices_) {
      if (known->empty()) continue;
      first = std::min(first, known->first_time());
      last = std::max(last, known->last_time());
    }
    if (first == kMaxTime) first = last = 0;
    for (const auto& [device, known] : devices_) known->finish(first, last);
    std::stable_sort(allocations_.begin(), allocations_.end(),
                     [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
    for (const Allocation& allocation : allocations_) builder_.add_allocation(allocation);
    add_annotations();
    TraceMeta& meta = builder_.meta();
    meta.wall_clock = first > 0;  // the allocator's times are Unix times
    meta.profile_memory = true;
    meta.file_events = entries_;
    meta.device_family = "CUDA";
    meta.properties.emplace_back("memory_at_snapshot", totals_json(totals_));
    add_settings(plain(root.find("allocator_settings")));
  }

 private:
  struct Annotation {
    Nanos from = 0;
    Nanos to = 0;
    StringId name;
    std::int64_t device = 0;
  };

  // Pickles may hold one value in many places: a hostile one would make a small file a long walk.
  bool once(const PickleValue& value) {
    if (value.is(PickleType::Dict) && seen_.insert(value.id()).second) return true;
    builder_.losses().add("odd_entries", Severity::Warning,
                          "Entries of the allocator's history without a sensible action, time or "
                          "size; they are left out.");
    return false;
  }

  DeviceHistory* history(std::int64_t device) {
    if (device < 0 || device >= kMaxDevices) {
      builder_.losses().add("odd_devices", Severity::Warning,
                            "Entries of a device with an impossible number; they are left out.");
      return nullptr;
    }
    auto& known = devices_[device];
    if (!known)
      known = std::make_unique<DeviceHistory>(device, builder_, names_, stacks_, allocations_);
    return known.get();
  }

  void add_segment(const PickleValue& value) {
    if (!once(value)) return;
    SnapshotSegment segment;
    segment.device = value.find("device").integer().value_or(0);
    segment.address = static_cast<std::uint64_t>(value.find("address").integer().value_or(0));
    segment.bytes = std::clamp<std::int64_t>(value.find("total_size").integer().value_or(0), 0,
                                             std::int64_t{1} << 50);
    segment.stream = value.find("stream").integer().value_or(0);
    std::string pool(value.find("segment_type").text());
    const PickleValue id = value.find("segment_pool_id");
    const std::int64_t first = id.item(0).integer().value_or(0);
    const std::int64_t second = id.item(1).integer().value_or(0);
    if (first != 0 || second != 0) {
      pool += " (" + std::to_string(first) + "," + std::to_string(second) + ")";
    }
    segment.pool = names_.intern(pool);
    segment.blocks = plain(value.find("blocks"));
    if (!segment.blocks.is_none() && !seen_.insert(segment.blocks.id()).second) segment.blocks = {};
    segment.stack = stacks_.stack(value.find("frames"));
    DeviceHistory* device = history(segment.device);
    if (device == nullptr) return;
    device->add_segment(segment);
    Totals& totals = totals_[segment.device];
    ++totals.segments;
    add_capped(totals.reserved, segment.bytes);
    for (std::size_t i = 0; i < segment.blocks.size(); ++i)
      add_totals(segment.blocks.item(i), totals);
  }

  static void add_totals(const PickleValue& block, Totals& totals) {
    constexpr std::int64_t kLimit = std::int64_t{1} << 50;
    const std::int64_t bytes =
        std::clamp<std::int64_t>(block.find("size").integer().value_or(0), 0, kLimit);
    ++totals.blocks;
    const std::string_view state = block.find("state").text();
    if (state == "active_allocated") {
      add_capped(totals.allocated, bytes);
      add_capped(totals.requested,
                 std::clamp<std::int64_t>(block.find("requested_size").integer().value_or(bytes), 0,
                                          kLimit));
    } else if (state.starts_with("active")) {
      add_capped(totals.pending, bytes);
    } else {
      add_capped(totals.inactive, bytes);
    }
  }

  void read_annotations(const PickleValue& list) {
    std::map<std::pair<std::int64_t, StringId>, std::vector<Nanos>> open;
    std::uint64_t odd = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const PickleValue value = list.item(i);
      const auto micros = value.find("time_us").integer();
      if (!micros || *micros < 0 || *micros > kMaxTime / 1000) {
        ++odd;
        continue;
      }
      const Nanos time = *micros * 1000;
      const std::int64_t device = value.find("device").integer().value_or(0);
      const StringId name = names_.intern(value.find("name").text());
      first_annotation_ = std::min(first_annotation_, time);
      last_annotation_ = std::max(last_annotation_, time);
      std::vector<Nanos>& starts = open[{device, name}];
      if (value.find("stage").text() == "START") {
        starts.push_back(time);
      } else if (starts.empty()) {
        ++odd;
      } else {
        annotations_.push_back({starts.back(), std::max(time, starts.back()), name, device});
        starts.pop_back();
      }
    }
    for (const auto& [key, starts] : open) odd += starts.size();
    builder_.losses().add(
        "odd_annotations", Severity::Info,
        "Annotations without a begin, an end or a sensible time; they are left out.", odd);
  }

  void add_annotations() {
    if (annotations_.empty()) return;
    std::stable_sort(annotations_.begin(), annotations_.end(),
                     [](const Annotation& a, const Annotation& b) { return a.from < b.from; });
    Track track;
    track.name = builder_.intern("annotations");
    const TrackId lane = builder_.add_track(track);
    for (const Annotation& annotation : annotations_) {
      const SliceKind kind =
          kineto_kind_by_name(SliceKind::UserRange, builder_.text(annotation.name));
      const SliceId slice = builder_.add_slice(
          annotation.from, std::min(annotation.to - annotation.from, kMaxDuration), lane,
          annotation.name, kind);
      OperatorRow row;
      row.is_annotation = true;
      builder_.add_operator(slice, row);
    }
  }

  void add_settings(const PickleValue& settings) {
    if (settings.size() == 0) return;
    JsonWriter json;
    json.begin_object();
    for (std::size_t i = 0; i < std::min<std::size_t>(settings.size(), 100); ++i) {
      const PickleValue value = settings.value(i);
      const std::string key = mend_utf8(settings.key(i).text().substr(0, 200));
      if (value.is(PickleType::Boolean)) {
        json.member(key, *value.integer() != 0);
      } else if (const auto whole = value.integer()) {
        json.member(key, *whole);
      } else if (const auto number = value.number()) {
        json.member(key, *number);
      } else if (value.is(PickleType::Text)) {
        json.member(key, mend_utf8(value.text().substr(0, 1000)));
      }
    }
    json.end_object();
    builder_.meta().properties.emplace_back("allocator_settings", json.take());
  }

  const PickleDocument& document_;
  TraceBuilder& builder_;
  NamePool names_;
  SnapshotStacks stacks_;
  std::map<std::int64_t, std::unique_ptr<DeviceHistory>> devices_;
  std::map<std::int64_t, Totals> totals_;
  std::set<std::uint32_t> seen_;
  std::vector<Allocation> allocations_;
  std::vector<Annotation> annotations_;
  Nanos first_annotation_ = kMaxTime;
  Nanos last_annotation_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace

bool looks_like_memory_snapshot(std::string_view head) {
  if (!looks_like_pickle(head)) return false;
  return head.find("device_traces") != std::string_view::npos ||
         (head.find("segment_type") != std::string_view::npos &&
          head.find("total_size") != std::string_view::npos);
}

Result<Trace> import_memory_snapshot(const ImportInput& input) {
  Result<PickleDocument> document = PickleDocument::read(input.source);
  if (!document) return document.error();
  const PickleValue root = document->root();
  const bool is_snapshot =
      root.has("segments") || root.has("device_traces") || plain(root).item(0).has("total_size");
  if (!is_snapshot) {
    return Error{ErrorCode::UnknownFormat,
                 "a pickle, but no memory snapshot: it has no \"segments\"",
                 input.path,
                 {},
                 "write one with torch.cuda.memory._dump_snapshot()"};
  }
  TraceBuilder builder;
  SnapshotReader(*document, builder).read();
  builder.nest(1);
  TraceMeta& meta = builder.meta();
  meta.format = "memory_snapshot";
  meta.producer = "PyTorch memory snapshot";
  meta.input_bytes = document->byte_count();
  builder.losses().add("bytes_behind", Severity::Info, "Bytes behind the end of the pickle.",
                       document->bytes_behind());
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
