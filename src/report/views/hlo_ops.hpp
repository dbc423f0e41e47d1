#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Operations of compiled programs (XLA), with the columns of XProf's HLO statistics.
Document hlo_ops_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& hlo_ops_sort_keys();

}  // namespace sonde
