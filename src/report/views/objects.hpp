#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// The objects of a snapshot by type, the difference to another one, and what grew.
Document objects_view(RunTraces traces, const ReportRequest& request);

const std::vector<std::string>& objects_sort_keys();

// An Error of usage where there is no such snapshot.
Result<bool> check_objects(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
