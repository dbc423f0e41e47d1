#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// Operators by name (and input shape or call stack), summed over all traces of the run.
Document operators_view(RunTraces traces, const ReportRequest& request);
const std::vector<std::string>& operators_sort_keys();

// The same rows for the summary; `empty` says why there are none.
struct OperatorRows {
  Table table;
  std::string empty;
  std::vector<std::string> notes;
};
OperatorRows operator_rows(RunTraces traces, const ReportRequest& request, std::size_t sensible);

}  // namespace sonde
