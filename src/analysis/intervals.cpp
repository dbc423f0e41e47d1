#include "analysis/intervals.hpp"

#include <algorithm>

namespace sonde {
namespace {

// The first interval of `a` that ends after `time`.
Intervals::const_iterator first_after(const Intervals& a, Nanos time) {
  return std::partition_point(a.begin(), a.end(), [&](const Interval& i) { return i.end <= time; });
}

}  // namespace

Intervals merge_intervals(std::vector<Interval> any) {
  std::erase_if(any, [](const Interval& i) { return i.end <= i.start; });
  const auto by_start = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::is_sorted(any.begin(), any.end(), by_start)) {
    std::sort(any.begin(), any.end(), by_start);
  }
  std::size_t kept = 0;
  for (const Interval& i : any) {
    if (kept > 0 && i.start <= any[kept - 1].end) {
      any[kept - 1].end = std::max(any[kept - 1].end, i.end);
    } else {
      any[kept++] = i;
    }
  }
  any.resize(kept);
  return any;
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals out;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const Interval both{std::max(i->start, j->start), std::min(i->end, j->end)};
    if (both.start < both.end) out.push_back(both);
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals out;
  auto j = b.begin();
  for (const Interval& i : a) {
    while (j != b.end() && j->end <= i.start) ++j;
    Nanos start = i.start;
    // The last hole may reach into the next interval: it is looked at again there.
    for (auto hole = j; hole != b.end() && hole->start < i.end; ++hole) {
      if (start < hole->start) out.push_back({start, hole->start});
      start = std::max(start, hole->end);
      j = hole;
    }
    if (start < i.end) out.push_back({start, i.end});
  }
  return out;
}

Intervals clip(const Intervals& a, const Interval& window) {
  Intervals out;
  for (auto i = first_after(a, window.start); i != a.end() && i->start < window.end; ++i) {
    const Interval part{std::max(i->start, window.start), std::min(i->end, window.end)};
    if (part.start < part.end) out.push_back(part);
  }
  return out;
}

Nanos total_length(const Intervals& a) {
  Nanos sum = 0;
  for (const Interval& i : a) sum += i.length();
  return sum;
}

Nanos length_within(const Intervals& a, const Interval& window) {
  Nanos sum = 0;
  for (auto i = first_after(a, window.start); i != a.end() && i->start < window.end; ++i) {
    const Nanos length = std::min(i->end, window.end) - std::max(i->start, window.start);
    sum += std::max<Nanos>(length, 0);
  }
  return sum;
}

}  // namespace sonde
