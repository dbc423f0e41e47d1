#pragma once

#include "report/report.hpp"

namespace sonde {

// What a file holds: format, producer, events by kind, tracks, span, devices. One document for each
// trace.
std::string info_report(const TraceSet& traces, const std::string& format,
                        const RenderOptions& options);

}  // namespace sonde
