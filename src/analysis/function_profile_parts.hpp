#pragma once

#include "analysis/function_profile.hpp"

namespace sonde {

// The two ways to function_profile() that have to count for themselves.
FunctionProfile sampled_profile(const Trace& trace);
FunctionProfile slice_profile(const Trace& trace);

// What the lengths of a trace's slices are.
ProfileCost slice_cost(const Trace& trace);

}  // namespace sonde
