#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/trace_set.hpp"

namespace sonde {

// How much memory a process, or a program with all its children, had over time.
struct MemoryCurve {
  struct Point {
    Nanos time = 0;  // since the start of its trace
    std::int64_t bytes = 0;
  };

  std::string label;   // "all processes", "process 1234 (python3)"
  bool whole = false;  // the program with all its children
  std::vector<Point> points;
  std::int64_t peak = 0;
  Nanos peak_time = 0;
};

// The resident memory that the system agent, an agent in the process or another profiler of memory
// counted; the whole program first, then the others by their peak.
std::vector<MemoryCurve> memory_curves(std::span<const NamedTrace> traces);
// The same of one trace; `worker` is the label where it tells none.
std::vector<MemoryCurve> memory_curves(const Trace& trace, const std::string& worker);

// At most `count` points, each the most of an equal part of the time.
std::vector<MemoryCurve::Point> thin_out(const std::vector<MemoryCurve::Point>& points,
                                         std::size_t count);

// What the recorded places of allocations come to.
struct AllocationTotals {
  std::int64_t allocations = 0;
  std::int64_t allocated = 0;
  std::int64_t live = 0;     // at the end
  std::int64_t at_peak = 0;  // live when the whole was largest
};
struct ProcessAllocations {
  bool known = false;
  AllocationTotals python;
  AllocationTotals native;
};
ProcessAllocations process_allocations(std::span<const NamedTrace> traces);

}  // namespace sonde
