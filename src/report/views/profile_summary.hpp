#pragma once

#include "report/report.hpp"

namespace sonde {

// What the summary says about traces that are profiles of functions or of memory: what they are,
// the whole, and the functions, lines, stacks and counters that matter.
std::vector<Block> profile_summary_blocks(RunTraces traces, const ReportRequest& request);

// Whether the summary should speak of functions instead of steps and devices.
bool is_profile_run(RunTraces traces);

}  // namespace sonde
