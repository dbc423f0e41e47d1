#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace_set.hpp"

namespace sonde {

// A snapshot of the objects of a process; texts belong to the traces.
struct ObjectSnapshot {
  const Trace* trace = nullptr;
  const ProcessMemory::Snapshot* snapshot = nullptr;
  std::string label;  // with the process where several have snapshots
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
};
std::vector<ObjectSnapshot> object_snapshots(std::span<const NamedTrace> traces);

// By label (the last of several), or by its number from 1 on; nothing where there is none.
std::optional<std::size_t> find_snapshot(const std::vector<ObjectSnapshot>& snapshots,
                                         const std::string& name);

struct ObjectCount {
  std::string_view type;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};
std::vector<ObjectCount> object_counts(const ObjectSnapshot& snapshot);

// What there is of a type now and was before; types of both.
struct ObjectChange {
  std::string_view type;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t count_before = 0;
  std::int64_t bytes_before = 0;

  std::int64_t more() const { return count - count_before; }
  std::int64_t more_bytes() const { return bytes - bytes_before; }
};
std::vector<ObjectChange> object_changes(const ObjectSnapshot& before, const ObjectSnapshot& after);

// Types that grew from the first snapshot of a process to its last, and in how many of the steps
// between.
struct ObjectGrowth {
  ObjectChange change;
  std::size_t rises = 0;
  std::size_t steps = 0;
};
std::vector<ObjectGrowth> object_growth(const std::vector<ObjectSnapshot>& snapshots);

}  // namespace sonde
