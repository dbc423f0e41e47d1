#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// A file of source with what each of its lines cost; without --file, the files that there are.
Document source_view(RunTraces traces, const ReportRequest& request);

const std::vector<std::string>& source_sort_keys();

// An Error of usage where nothing is known of the file.
Result<bool> check_source(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
