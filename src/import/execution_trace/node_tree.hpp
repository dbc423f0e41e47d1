#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde::execution_trace {

// Where a node without times stands: each begin and each end of a node is one tick of the clock.
struct Place {
  Nanos start = 0;
  Nanos duration = 0;
};

struct TreeNode {
  std::int64_t id = 0;
  std::int64_t parent = 0;
};

// Lays the nodes out in the order of their ids, each within its parent. `cycles` counts the nodes
// that are their own ancestors; they stand at the end, without children.
std::vector<Place> lay_out(const std::vector<TreeNode>& nodes, std::uint64_t& cycles);

}  // namespace sonde::execution_trace
