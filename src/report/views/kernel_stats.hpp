#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Kernels by name, launch and operator, with the columns of XProf's kernel statistics.
Document kernel_stats_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& kernel_stats_sort_keys();

}  // namespace sonde
