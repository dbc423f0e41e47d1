#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// What each accelerator, each stream and each host thread did.
Document devices_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& devices_sort_keys();

}  // namespace sonde
