#include "export/chrome/arrow_times.hpp"

#include <algorithm>
#include <tuple>

namespace sonde {

const std::vector<SliceId>& ArrowTimes::track(TrackId id) {
  const auto [at, fresh] = tracks_.try_emplace(id.value);
  if (fresh) {
    const SliceColumns& slices = trace_.slices();
    for (const SliceId slice : all_slices(trace_)) {
      if (slices.track(slice) == id) at->second.push_back(slice);
    }
    std::sort(at->second.begin(), at->second.end(), [&](SliceId a, SliceId b) {
      return std::tuple(slices.start(a), slices.depth(a), a) <
             std::tuple(slices.start(b), slices.depth(b), b);
    });
  }
  return at->second;
}

// Of the slice that began last and its parents, the first that has not ended.
SliceId ArrowTimes::innermost(const std::vector<SliceId>& list, Nanos time) const {
  const SliceColumns& slices = trace_.slices();
  const auto behind = std::upper_bound(list.begin(), list.end(), time, [&](Nanos t, SliceId slice) {
    return t < slices.start(slice);
  });
  if (behind == list.begin()) return {};
  SliceId slice = *std::prev(behind);
  while (slice.valid() && slices.end(slice) < time) slice = slices.parent(slice);
  return slice;
}

std::optional<Nanos> ArrowTimes::end(SliceId from, SliceId to) {
  const SliceColumns& slices = trace_.slices();
  const Nanos first = slices.start(from);
  if (slices.start(to) >= first) return slices.start(to);
  const Nanos last = slices.end(to);
  if (last < first) return std::nullopt;
  const std::vector<SliceId>& list = track(slices.track(to));
  // It becomes the innermost again only where another one ends.
  constexpr int kMostTries = 1000;
  if (innermost(list, first) == to) return first;
  int tries = 0;
  const auto begin = std::find(list.begin(), list.end(), to);
  for (auto at = begin; at != list.end() && slices.start(*at) <= last && tries < kMostTries; ++at) {
    const Nanos time = slices.end(*at) + 1;
    if (time < first || time > last) continue;
    ++tries;
    if (innermost(list, time) == to) return time;
  }
  return std::nullopt;
}

}  // namespace sonde
