#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

struct PymplerRequest {
  bool difference = false;    // between each snapshot and the next one
  std::string sort = "size";  // one of pympler_sort_keys(), or pympler's own word for the last, "#"
  bool ascending = false;
  std::size_t row_limit = 15;
};

// The table of pympler's summary.print_() for each snapshot of a process's objects, or that of
// SummaryTracker.print_diff(). Several tables stand under the names of their snapshots.
Result<std::string> pympler_text(const NamedTrace& named, const PymplerRequest& request);

std::vector<std::string> pympler_sort_keys();  // "size", "type", "objects"

}  // namespace sonde
