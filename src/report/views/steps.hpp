#pragma once

#include <string>
#include <vector>

#include "analysis/steps.hpp"
#include "report/report.hpp"

namespace sonde {

// Each step of each trace, and what its time went to.
Document steps_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& steps_sort_keys();

// "Kernel", "CPU Exec", …, and the same in snake_case.
std::string_view role_title(StepRole role);
std::string_view role_key(StepRole role);

// What to tell about a trace without steps.
std::string no_steps_note(const Trace& trace);

}  // namespace sonde
