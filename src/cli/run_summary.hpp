#pragma once

#include <string>

namespace sonde {

// Prints the summary of a run on standard error, as `sonde report` has it; the reason where the run
// cannot be read.
void print_run_summary(const std::string& folder);

}  // namespace sonde
