#pragma once

#include <cstdint>

#include "trace/trace.hpp"

namespace sonde {

// The ids by which a slice finds the slices that it is linked with.
struct SliceIds {
  std::int64_t correlation = kNoNumber;
  std::int64_t external_id = kNoNumber;
  std::int64_t sequence = kNoNumber;
  bool is_call = false;    // whether they come from a LaunchRow
  std::uint64_t link = 0;  // by which links of their own records name it
  bool at_arrow = false;   // an arrow that is needed begins or ends in it
};

// What a reader does with a slice: leave it out, keep its place and ids only, keep it whole.
enum class Taken : std::uint8_t { No, Bare, Whole };

enum class Point : std::uint8_t { Marker, Counter, Allocation, Sample };

}  // namespace sonde
