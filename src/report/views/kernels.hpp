#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Kernels by name, summed over all traces of the run.
Document kernels_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& kernels_sort_keys();

// The same block for the summary, with fewer columns where `brief`.
Block kernels_block(RunTraces traces, const ReportRequest& request, std::size_t sensible,
                    bool brief);

}  // namespace sonde
