#pragma once

#include <vector>

#include "report/report.hpp"

namespace sonde {

// Whether agents recorded functions, samples or memory of one of the processes.
bool has_python_data(RunTraces traces);

// The top functions, the hottest lines and the memory of such a run, in a few lines.
std::vector<Block> python_summary_blocks(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
