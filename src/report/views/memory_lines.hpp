#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// What each line of source allocated, and the process's memory around lines.
Document memory_lines_view(RunTraces traces, const ReportRequest& request);

std::vector<Block> memory_lines_blocks(RunTraces traces, const ReportRequest& request,
                                       std::size_t sensible);

const std::vector<std::string>& memory_lines_sort_keys();

}  // namespace sonde
