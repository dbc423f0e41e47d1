#pragma once

#include "report/report.hpp"

namespace sonde {

// How long device work waited for its turn, how much of it was queued, and how much each step asked
// for.
Document launches_view(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
