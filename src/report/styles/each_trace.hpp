#pragma once

#include <functional>
#include <string>

#include "report/report.hpp"
#include "report/table.hpp"

namespace sonde {

// One text for each trace that has something to show, under the names of their files where there
// are several. What the first one lacks is told where none has anything.
Result<std::string> each_trace(const TraceSet& traces,
                               const std::function<Result<std::string>(const NamedTrace&)>& print);

// The rows of each trace as numbers, in the format of the request; `block` is what they are called.
// The first trace that has none fails.
Result<std::string> each_table(const TraceSet& traces, const ReportRequest& request,
                               const std::string& block,
                               const std::function<Result<Table>(const NamedTrace&)>& rows);

}  // namespace sonde
