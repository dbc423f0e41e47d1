#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// The average step and its parts, what holds it up, and the top operators, as XProf sees them.
Document overview_view(RunTraces traces, const ReportRequest& request);
// The parts of the average step, for views that begin with it.
Block step_parts_block(const NamedTrace& named, bool several);

}  // namespace sonde
