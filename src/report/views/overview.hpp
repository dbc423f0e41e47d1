#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// The average step and its parts, what holds it up, and the top operators, as XProf sees them.
Document overview_view(RunTraces traces, const ReportRequest& request);
// The parts of the average step, for views that begin with it; without `all_parts` those only that
// take any time.
Block step_parts_block(const NamedTrace& named, bool several, bool all_parts);

}  // namespace sonde
