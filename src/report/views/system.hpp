#pragma once

#include <vector>

#include "analysis/devices.hpp"
#include "report/report.hpp"

namespace sonde {

// How busy the processors were: "CPU (processes)", "CPU (system)", "GPU 0" …, and what else the
// system agent saw from outside. Empty for runs without it. `gpus` are those of all traces of the
// run.
std::vector<Block> system_blocks(RunTraces traces, const GpuTimesById& gpus,
                                 const ReportRequest& request);

}  // namespace sonde
