#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Who calls each function and whom it calls, with counts and costs.
Document callgraph_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& callgraph_sort_keys();

}  // namespace sonde
