#pragma once

#include "trace/builder.hpp"

namespace sonde {

// Turns the counters "Memory: cpu/0", "Memory: gpu/0" … into allocations and frees: each value of
// such a counter is one of them. The values count from the start of the profiler. Before nest().
void add_mxnet_allocations(TraceBuilder& builder);

}  // namespace sonde
