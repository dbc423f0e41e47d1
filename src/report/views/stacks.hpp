#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// The heaviest stacks, from the root to the function that the cost was spent in.
Document stacks_view(RunTraces traces, const ReportRequest& request);

// A table for each kind of cost, or for the one of that name.
std::vector<Block> stacks_blocks(RunTraces traces, const ReportRequest& request,
                                 std::size_t sensible, const std::string& only_cost = {});

}  // namespace sonde
