#pragma once

#include <vector>

#include "report/report.hpp"

namespace sonde {

// A run's memory over time, with its peak, by process; and what its allocations come to.
Document memory_view(RunTraces traces, const ReportRequest& request);

// The peak and the curve in a line or two, for the summary; empty where nothing is known.
std::vector<Block> memory_facts(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
