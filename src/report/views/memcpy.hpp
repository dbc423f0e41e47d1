#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Copies and memsets by name, summed over all traces of the run.
Document memcpy_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& memcpy_sort_keys();

}  // namespace sonde
