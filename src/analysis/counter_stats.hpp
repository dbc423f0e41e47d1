#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// The course of one series of a counter.
struct CounterStats {
  TrackId track;
  StringId counter;
  StringId series;
  std::uint64_t values = 0;
  double first = 0;
  double peak = 0;
  Nanos peak_time = 0;
  double last = 0;
};

// In the order of first appearance.
std::vector<CounterStats> counter_stats(const Trace& trace);

}  // namespace sonde
