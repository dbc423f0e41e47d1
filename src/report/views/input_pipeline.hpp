#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Each step and its parts, and the operators that prepare the input.
Document input_pipeline_view(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
