#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// The slices of each track, in the order in which they begin; the longer of two that begin together
// first. So a parent always comes before its children.
std::vector<std::vector<SliceId>> slices_outer_first(const Trace& trace);

struct LaneSlice {
  SliceId slice;
  Nanos end = 0;  // the slice's own, but where no lane was left: then its parent's
};

// A part of a track on which every slice either encloses another whole or does not touch it.
struct Lane {
  TrackId track;
  std::uint32_t number = 0;  // 0: the track itself
  std::vector<LaneSlice> slices;
};

struct Lanes {
  std::vector<Lane> lanes;  // by track, then number
  std::uint64_t cut = 0;    // slices that were shortened, since kMostLanes was reached
};

inline constexpr std::size_t kMostLanes = 64;

// Many formats know brackets only. A slice that overlaps another of its track in part goes to the
// next lane that has room for it.
Lanes split_into_lanes(const Trace& trace);

}  // namespace sonde
