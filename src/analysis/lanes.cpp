#include "analysis/lanes.hpp"

#include <algorithm>

namespace sonde {

std::vector<std::vector<SliceId>> slices_outer_first(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  std::vector<std::vector<SliceId>> tracks(trace.tracks().size());
  for (std::size_t t = 0; t < tracks.size(); ++t) tracks[t].reserve(trace.tracks()[t].slices);
  for (const SliceId slice : all_slices(trace)) {
    tracks[slices.track(slice).index()].push_back(slice);
  }
  const auto before = [&](SliceId a, SliceId b) {
    if (slices.start(a) != slices.start(b)) return slices.start(a) < slices.start(b);
    if (slices.duration(a) != slices.duration(b)) return slices.duration(a) > slices.duration(b);
    return a < b;
  };
  for (std::vector<SliceId>& list : tracks) {
    if (!std::is_sorted(list.begin(), list.end(), before))
      std::sort(list.begin(), list.end(), before);
  }
  return tracks;
}

Lanes split_into_lanes(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  const std::vector<std::vector<SliceId>> tracks = slices_outer_first(trace);
  Lanes out;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    const std::size_t first = out.lanes.size();
    std::vector<std::vector<Nanos>> open;  // of each lane: the ends of what is open
    for (const SliceId slice : tracks[t]) {
      const Nanos start = slices.start(slice);
      Nanos end = slices.end(slice);
      std::size_t lane = 0;
      for (;; ++lane) {
        if (lane == open.size()) {
          open.emplace_back();
          out.lanes.push_back({TrackId(t), static_cast<std::uint32_t>(lane), {}});
        }
        std::vector<Nanos>& ends = open[lane];
        while (!ends.empty() && ends.back() <= start) ends.pop_back();
        if (ends.empty() || end <= ends.back()) break;
        if (lane + 1 == kMostLanes) {
          end = ends.back();
          ++out.cut;
          break;
        }
      }
      open[lane].push_back(end);
      out.lanes[first + lane].slices.push_back({slice, end});
    }
  }
  return out;
}

}  // namespace sonde
