#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// Reads everything behind `paths` for a command: with a progress line, and with a warning on
// standard error for each file that had to be left out.
Result<TraceSet> read_traces(const std::vector<std::string>& paths);

// Prints a warning for each kind of loss: for formats that have no room for them.
void warn_of_losses(const TraceSet& traces);

// Whether the trace is of the process with that pid or that name of its file.
bool is_process(const Trace& trace, const std::string& worker, const std::string& process);

}  // namespace sonde
