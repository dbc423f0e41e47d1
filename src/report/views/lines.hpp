#pragma once

#include <string>
#include <vector>

#include "analysis/device_lines.hpp"
#include "analysis/function_profile.hpp"
#include "report/report.hpp"

namespace sonde {

// Lines of source with their hits and cost, and with what they had the GPU do where that is known.
Document lines_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& lines_sort_keys();

std::vector<Block> lines_blocks(const FunctionProfile& profile, const ReportRequest& request,
                                std::size_t sensible, const DeviceLines& device = {});

}  // namespace sonde
