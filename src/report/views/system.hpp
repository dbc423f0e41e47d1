#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// How busy the processors were: "CPU (processes)", "CPU (system)", "GPU 0" …, and what else the
// system agent saw from outside. Empty for runs without it. `gpu_busy` is the busy time of each GPU
// over all traces of the run.
std::vector<Block> system_blocks(RunTraces traces, const std::map<std::int32_t, Nanos>& gpu_busy,
                                 const ReportRequest& request);

}  // namespace sonde
