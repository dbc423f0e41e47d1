#pragma once

#include "report/report.hpp"

namespace sonde {

// What the modules of a network cost, on the host and on the device.
Document modules_view(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
