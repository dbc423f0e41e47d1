#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// Half-open: [start, end).
struct Interval {
  Nanos start = 0;
  Nanos end = 0;

  Nanos length() const { return end - start; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Non-empty, disjoint, not touching and ascending: what merge_intervals() gives and all the
// functions below take and give.
using Intervals = std::vector<Interval>;

// From any intervals in any order; touching ones are joined, empty and backward ones go.
Intervals merge_intervals(std::vector<Interval> any);

Intervals intersect(const Intervals& a, const Intervals& b);
// What of `a` lies outside of `b`.
Intervals subtract(const Intervals& a, const Intervals& b);
Intervals clip(const Intervals& a, const Interval& window);

Nanos total_length(const Intervals& a);
// total_length(clip(a, window)), without a copy.
Nanos length_within(const Intervals& a, const Interval& window);

}  // namespace sonde
