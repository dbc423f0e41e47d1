#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/function_profile.hpp"

namespace sonde {

// Stacks of functions and what was spent in the innermost one of each. Frames are the same where
// name and file are.
struct HotStacks {
  struct Frame {
    std::uint32_t caller = UINT32_MAX;
    std::string_view name;
    std::string_view file;
  };
  struct Row {
    std::uint32_t frame = 0;  // the innermost one
    std::size_t cost = 0;
    double weight = 0;
    std::int64_t count = 0;  // samples or slices
  };

  std::vector<ProfileCost> costs;
  std::vector<double> whole;  // by cost
  std::vector<Frame> frames;
  std::vector<Row> rows;  // by cost, the heaviest first

  // From the root to the leaf; of deep stacks only the innermost frames.
  std::vector<std::uint32_t> path(std::uint32_t frame, std::size_t deepest, bool& cut) const;
};

// From samples, else from slices of threads. A profile of sums has no stacks.
HotStacks hot_stacks(std::span<const NamedTrace> traces);

}  // namespace sonde
