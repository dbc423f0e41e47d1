#pragma once

#include "analysis/call_tree.hpp"

namespace sonde {

// A tree of the sums of a deterministic profiler, of one of its costs. Such a profile knows who
// called a function, not on which way: below a function the time is shared out as its sums say, so
// that the deeper parts are an estimate. Paths end where a function comes back on them, where less
// than a 10,000th of everything is left, or when the tree is full.
CallTree estimate_call_tree(const Trace& trace, std::size_t type);

}  // namespace sonde
