#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Operators of the framework on host and device, with the columns of XProf's operator statistics.
Document framework_ops_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& framework_ops_sort_keys();

}  // namespace sonde
