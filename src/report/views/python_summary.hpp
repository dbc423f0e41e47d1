#pragma once

#include <vector>

#include "report/report.hpp"

namespace sonde {

// Whether agents recorded functions, samples or memory of one of the processes.
bool has_python_data(RunTraces traces);

// Which Python it was, into the facts of the trace; nothing where it is not told.
void add_python_fact(RunTraces traces, Block& block);

// The top functions, the hottest lines and the memory of such a run, in a few lines.
std::vector<Block> python_summary_blocks(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
