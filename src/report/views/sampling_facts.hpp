#pragma once

#include "report/document.hpp"
#include "report/report.hpp"

namespace sonde {

// How the samples of a run were taken: method, rates, what was lost, and what it cost. Nothing
// where no trace tells.
std::vector<Block> sampling_blocks(RunTraces traces);

}  // namespace sonde
