#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// What each allocator did: its peak, what was alive then, and the curve.
Document memory_profile_view(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
