#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

struct PstatsRequest {
  std::vector<std::string> views = {"stats"};  // stats, callers, callees
  std::vector<std::string> sort;               // of pstats_sort_keys(); empty: as they come
  std::vector<std::string> restrictions;       // 20, 0.1 or a regular expression, in sequence
  bool strip_dirs = false;
};

// What Python's pstats.Stats(FILES…) prints for print_stats(), print_callers() and print_callees(),
// summed over all traces that have functions.
Result<std::string> pstats_text(std::span<const NamedTrace> traces, const PstatsRequest& request);

std::vector<std::string> pstats_sort_keys();      // whole words
std::vector<std::string> pstats_abbreviations();  // what pstats understands besides
Result<bool> check_pstats_restriction(const std::string& word);

}  // namespace sonde
