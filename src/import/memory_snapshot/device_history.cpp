#include "import/memory_snapshot/device_history.hpp"

#include <algorithm>
#include <set>

namespace sonde {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr std::size_t kMaxFrames = 2000;
constexpr std::int32_t kCuda = 1;

// Sums of sizes from a file never leave 0 … 2^62.
void add_capped(std::int64_t& sum, std::int64_t bytes) {
  sum = std::clamp<std::int64_t>(sum + bytes, 0, std::int64_t{1} << 62);
}

}  // namespace

const SnapshotStacks::Frame& SnapshotStacks::frame(const PickleValue& value) {
  const auto [at, added] = frames_.try_emplace(value.id());
  if (added) {
    at->second.function = names_.intern(value.find("name").text());
    at->second.file = names_.intern(value.find("filename").text());
    const std::int64_t line = value.find("line").integer().value_or(0);
    if (line > 0 && line <= INT32_MAX) at->second.line = static_cast<std::int32_t>(line);
  }
  return at->second;
}

StackId SnapshotStacks::stack(const PickleValue& frames) {
  if (frames.size() == 0) return {};
  const auto [at, added] = lists_.try_emplace(frames.id());
  if (!added) return at->second;
  StackId stack;
  // The file has the innermost frame first.
  for (std::size_t i = std::min(frames.size(), kMaxFrames); i-- > 0;) {
    const PickleValue value = frames.item(i);
    if (!value.is(PickleType::Dict)) continue;
    const Frame& known = frame(value);
    stack = builder_.intern_stack({stack, known.function, known.file, known.line});
  }
  at->second = stack;
  return stack;
}

DeviceHistory::DeviceHistory(std::int64_t device, TraceBuilder& builder, NamePool& names,
                             SnapshotStacks& stacks, std::vector<Allocation>& allocations)
    : device_(device),
      builder_(builder),
      names_(names),
      stacks_(stacks),
      allocations_(allocations) {
  Track track;
  track.type = TrackType::Async;
  track.device = static_cast<std::int32_t>(device);
  track.name = builder.intern("GPU " + std::to_string(device) + " memory");
  track_ = builder.add_track(track);
}

void DeviceHistory::lose(const char* name, const char* sentence) {
  builder_.losses().add(name, Severity::Warning, sentence);
}

void DeviceHistory::add_segment(const SnapshotSegment& segment) {
  segments_[segment.address] = segment;
  std::uint64_t address = segment.address;
  for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
    const PickleValue block = segment.blocks.item(i);
    const auto bytes = block.find("size").integer();
    if (!bytes || *bytes < 0 || *bytes > kMaxBytes) {
      lose("odd_blocks", "Blocks without a sensible size; they are left out.");
      continue;
    }
    // Old snapshots have no address: blocks follow one another.
    if (const auto told = block.find("address").integer())
      address = static_cast<std::uint64_t>(*told);
    const std::string_view state = block.find("state").text();
    if (state.starts_with("active")) {
      PickleValue frames = block.find("frames");
      if (frames.size() == 0) frames = block.find("history").item(0).find("frames");
      // The history counts what was asked for, not what it was rounded up to.
      const std::int64_t asked = block.find("requested_size").integer().value_or(*bytes);
      live_[address] = {std::clamp<std::int64_t>(asked, 0, *bytes), stacks_.stack(frames)};
    }
    address += static_cast<std::uint64_t>(*bytes);
  }
}

void DeviceHistory::add_entry(const PickleValue& entry) {
  const std::string_view action = entry.find("action").text();
  const auto micros = entry.find("time_us").integer();
  const std::int64_t bytes = entry.find("size").integer().value_or(0);
  if (action.empty() || (micros && (*micros < 0 || *micros > kMaxTime / 1000)) || bytes < 0 ||
      bytes > kMaxBytes) {
    return lose("odd_entries",
                "Entries of the allocator's history without a sensible action, time or "
                "size; they are left out.");
  }
  Event event;
  // Snapshots from before torch 2.1 have no times: then only the order counts.
  event.time = micros ? *micros * 1000 : (events_.empty() ? 0 : events_.back().time + 1);
  event.name = names_.intern(action);
  event.bytes = bytes;
  event.address = static_cast<std::uint64_t>(entry.find("addr").integer().value_or(0));
  event.stream = entry.find("stream").integer().value_or(kNoNumber);
  if (action == "alloc") {
    event.action = Action::Alloc;
  } else if (action == "free_completed") {
    event.action = Action::Free;
  } else if (action == "free_requested") {
    // The memory is free when the streams that use it are done: "free_completed" follows.
    return;
  } else if (action == "segment_alloc" || action == "segment_map") {
    event.action = Action::SegmentAlloc;
  } else if (action == "segment_free" || action == "segment_unmap") {
    event.action = Action::SegmentFree;
  } else if (action == "oom") {
    event.action = Action::OutOfMemory;
    event.address = 0;
  } else if (action != "snapshot" && action != "workspace_snapshot") {
    builder_.losses().add(
        "unknown_actions", Severity::Info,
        "Entries with an action that Sonde does not know; they are kept as markers.");
  }
  for (const char* key : {"category", "user_metadata"}) {
    const std::string_view text = entry.find(key).text();
    if (!text.empty()) event.tag = names_.intern(text);
  }
  event.stack = stacks_.stack(entry.find("frames"));
  if (events_.empty()) first_time_ = last_time_ = event.time;
  first_time_ = std::min(first_time_, event.time);
  last_time_ = std::max(last_time_, event.time);
  events_.push_back(event);
}

StringId DeviceHistory::pool_at(std::uint64_t address) const {
  auto segment = segments_.upper_bound(address);
  if (segment == segments_.begin()) return {};
  --segment;
  const bool inside = address - segment->first <
                      static_cast<std::uint64_t>(std::max<std::int64_t>(segment->second.bytes, 0));
  return inside ? segment->second.pool : StringId();
}

// Memory from before the first entry: what is freed but never allocated, and what is there at the
// end without having been allocated.
void DeviceHistory::add_before(Nanos time) {
  std::vector<Event> before;
  std::map<std::uint64_t, bool> is_live;  // by the entries so far
  constexpr std::int64_t kMostTaken = std::int64_t{1} << 62;
  std::int64_t reserved = 0;
  std::int64_t taken = 0;
  for (const auto& [address, segment] : segments_) add_capped(reserved, segment.bytes);
  for (const Event& event : events_) {
    if (event.action == Action::SegmentAlloc) taken = std::min(taken + event.bytes, kMostTaken);
    if (event.action == Action::SegmentFree) add_capped(reserved, event.bytes);
    if (event.action == Action::Alloc) is_live[event.address] = true;
    if (event.action != Action::Free) continue;
    const auto [known, fresh] = is_live.try_emplace(event.address, false);
    if (fresh) before.push_back(event);
    known->second = false;
  }
  for (const auto& [address, block] : live_) {
    if (is_live.contains(address)) continue;
    Event event;
    event.address = address;
    event.bytes = block.bytes;
    event.stack = block.stack;
    before.push_back(event);
  }
  reserved_ = std::max<std::int64_t>(reserved - taken, 0);
  const StringId tag = builder_.intern("before the recording");
  for (const Event& event : before) {
    add_capped(allocated_, event.bytes);
    Allocation allocation;
    allocation.time = time;
    allocation.address = event.address;
    allocation.bytes = event.bytes;
    allocation.total_allocated = allocated_;
    allocation.total_reserved = reserved_;
    allocation.track = track_;
    allocation.device_type = kCuda;
    allocation.device = static_cast<std::int32_t>(device_);
    allocation.pool = pool_at(event.address);
    allocation.tag = tag;
    // The stack of a free tells nothing about who allocated.
    if (event.action != Action::Free) allocation.stack = event.stack;
    allocations_.push_back(allocation);
  }
}

void DeviceHistory::finish(Nanos first_moment, Nanos last_moment) {
  const Nanos first = events_.empty() ? first_moment : first_time_;
  add_before(first);
  for (const Event& event : events_) {
    switch (event.action) {
      case Action::Alloc:
      case Action::Free:
      case Action::OutOfMemory: {
        Allocation allocation;
        allocation.time = event.time;
        allocation.address = event.address;
        allocation.bytes = event.action == Action::Free ? -event.bytes : event.bytes;
        allocation.out_of_memory = event.action == Action::OutOfMemory;
        if (!allocation.out_of_memory) add_capped(allocated_, allocation.bytes);
        allocation.total_allocated = allocated_;
        allocation.total_reserved = reserved_;
        allocation.track = track_;
        allocation.device_type = kCuda;
        allocation.device = static_cast<std::int32_t>(device_);
        allocation.pool = pool_at(event.address);
        allocation.tag = event.tag;
        allocation.stack = event.stack;
        allocations_.push_back(allocation);
        break;
      }
      case Action::SegmentAlloc:
        add_capped(reserved_, event.bytes);
        break;
      case Action::SegmentFree:
        add_capped(reserved_, -event.bytes);
        break;
      case Action::Mark: {
        Marker marker;
        marker.time = event.time;
        marker.track = track_;
        marker.name = event.name;
        builder_.add_marker(marker);
        break;
      }
    }
  }
  add_segments(first, std::max(last_moment, first));
}

// Segments as slices: from when the driver gave them to when it got them back.
void DeviceHistory::add_segments(Nanos first, Nanos last) {
  struct Life {
    Nanos from = 0;
    Nanos to = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t stream = kNoNumber;
  };
  std::vector<Life> lives;
  std::map<std::uint64_t, Life> open;
  for (const Event& event : events_) {
    if (event.action == Action::SegmentAlloc) {
      open[event.address] = {event.time, last, event.address, event.bytes, event.stream};
    } else if (event.action == Action::SegmentFree) {
      const auto known = open.find(event.address);
      Life life = known == open.end()
                      ? Life{first, event.time, event.address, event.bytes, event.stream}
                      : known->second;
      life.to = event.time;
      lives.push_back(life);
      if (known != open.end()) open.erase(known);
    }
  }
  for (const auto& [address, segment] : segments_) {
    const auto known = open.find(address);
    lives.push_back({known == open.end() ? first : known->second.from, last, address, segment.bytes,
                     segment.stream});
    if (known != open.end()) open.erase(known);
  }
  // Mapped parts of an expandable segment, which the snapshot has as one.
  for (const auto& [address, life] : open) lives.push_back(life);
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Life& a, const Life& b) { return a.from < b.from; });
  if (lives.empty()) return;
  Track track;
  track.type = TrackType::Async;
  track.device = static_cast<std::int32_t>(device_);
  track.name = builder_.intern("GPU " + std::to_string(device_) + " segments");
  const TrackId lane = builder_.add_track(track);
  const StringId category = builder_.intern("memory_segment");
  for (const Life& life : lives) {
    const StringId pool = pool_at(life.address);
    const std::string name =
        pool.valid() ? "segment of pool " + std::string(builder_.text(pool)) : "segment";
    const SliceId slice =
        builder_.add_slice(life.from, std::clamp<Nanos>(life.to - life.from, 0, kMaxDuration), lane,
                           builder_.intern(name), SliceKind::Other);
    builder_.add_category(slice, category);
    builder_.add_argument(
        {slice, builder_.intern("address"), static_cast<std::int64_t>(life.address)});
    builder_.add_argument({slice, builder_.intern("bytes"), life.bytes});
    if (life.stream != kNoNumber) {
      builder_.add_argument({slice, builder_.intern("stream"), life.stream});
    }
  }
}

}  // namespace sonde
