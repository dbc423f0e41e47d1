#pragma once

#include <string>
#include <vector>

#include "analysis/function_profile.hpp"
#include "report/report.hpp"

namespace sonde {

// Functions with their calls, their own cost and that with callees, summed over all traces of a
// run.
Document functions_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& functions_sort_keys();

// The tables of it: one for each kind of cost, or one for all where programs read it.
std::vector<Block> functions_blocks(const FunctionProfile& profile, const ReportRequest& request,
                                    std::size_t sensible);

}  // namespace sonde
