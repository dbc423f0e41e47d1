#pragma once

#include "report/report.hpp"
#include "report/run_facts.hpp"

namespace sonde {

// What a file holds: format, producer, events by kind, tracks, span, devices. One document for each
// trace, and one before the first trace of each of the `runs`.
std::string info_report(const TraceSet& traces, const std::vector<RunFolder>& runs,
                        const std::string& format, const RenderOptions& options);

}  // namespace sonde
