#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/pickle/pickle_reader.hpp"
#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Stacks of a snapshot. Many entries share one list of frames: each list is read once.
class SnapshotStacks {
 public:
  SnapshotStacks(TraceBuilder& builder, NamePool& names) : builder_(builder), names_(names) {}
  StackId stack(const PickleValue& frames);

 private:
  struct Frame {
    StringId function;
    StringId file;
    std::int32_t line = 0;
  };
  const Frame& frame(const PickleValue& value);

  TraceBuilder& builder_;
  NamePool& names_;
  std::unordered_map<std::uint32_t, StackId> lists_;
  std::unordered_map<std::uint32_t, Frame> frames_;
};

// A piece of memory that the allocator has from the driver, at the time of the snapshot.
struct SnapshotSegment {
  std::int64_t device = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t stream = 0;
  StringId pool;
  PickleValue blocks;
  StackId stack;
};

// What one device's allocator did, entry by entry, and what is left of it.
class DeviceHistory {
 public:
  DeviceHistory(std::int64_t device, TraceBuilder& builder, NamePool& names, SnapshotStacks& stacks,
                std::vector<Allocation>& allocations);

  void add_segment(const SnapshotSegment& segment);
  void add_entry(const PickleValue& entry);
  // Adds the allocations, those from before the first entry first, and everything else to the
  // builder.
  void finish(Nanos first_moment, Nanos last_moment);

  Nanos first_time() const { return first_time_; }
  Nanos last_time() const { return last_time_; }
  bool empty() const { return events_.empty(); }

 private:
  enum class Action : std::uint8_t { Alloc, Free, SegmentAlloc, SegmentFree, OutOfMemory, Mark };
  struct Event {
    Nanos time = 0;
    Action action = Action::Mark;
    StringId name;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t stream = kNoNumber;
    StackId stack;
    StringId tag;
  };
  struct Block {
    std::int64_t bytes = 0;
    StackId stack;
  };

  void add_before(Nanos time);
  void add_segments(Nanos first, Nanos last);
  StringId pool_at(std::uint64_t address) const;
  void lose(const char* name, const char* sentence);

  std::int64_t device_;
  TraceBuilder& builder_;
  NamePool& names_;
  SnapshotStacks& stacks_;
  std::vector<Allocation>& allocations_;
  TrackId track_;
  std::vector<Event> events_;
  std::map<std::uint64_t, SnapshotSegment> segments_;  // by address
  std::map<std::uint64_t, Block> live_;                // at the snapshot, by address
  std::int64_t allocated_ = 0;
  std::int64_t reserved_ = 0;
  Nanos first_time_ = 0;
  Nanos last_time_ = 0;
};

}  // namespace sonde
