#pragma once

#include <vector>

#include "report/registry.hpp"

namespace sonde {

// The views of the styles of Python's profilers: pstats, line_profiler, pprofile, memory_profiler
// and pympler.
std::vector<ReportView> python_style_views();

}  // namespace sonde
