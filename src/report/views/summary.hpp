#pragma once

#include "report/report.hpp"

namespace sonde {

// What the traces of a run are, where the time went, and what to do about it, on one screen or two.
Document summary_view(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
