#pragma once

#include <string>
#include <string_view>

#include "analysis/function_profile.hpp"
#include "report/report.hpp"

namespace sonde {

// What the views of functions, calls, lines and stacks share.

CellType cost_type(const ProfileCost& cost);
Cell cost_cell(double value, const ProfileCost& cost);
std::string cost_text(double value, const ProfileCost& cost);

// The header of a column with this cost.
std::string cost_header(const ProfileCost& cost);
// "self_ns", "self_bytes", "self".
std::string cost_key(const std::string& what, const ProfileCost& cost);
// "time", "Ir": the heading of a section where there are several.
std::string cost_title(const std::string& what, const FunctionProfile& profile, std::size_t cost);

// "optim/adam.py:12", "train.py" or nothing: for people.
std::string place_text(std::string_view file, std::int32_t line);

// Whether the report is for programs: then all costs are in one table, with names and units.
inline bool for_programs(const ReportRequest& request) {
  return request.format == "json" || request.format == "csv";
}

// What is said in place of functions, and about traces that could not be added to the others.
inline constexpr const char* kNoFunctions =
    "No functions in this trace: neither sums, nor samples, nor anything with a duration.";
void note_left_out(std::size_t traces, Block& block);

// "Calls", or "Samples" where calls were not counted.
std::string calls_header(const FunctionProfile& profile);
// Whether the counts of calls mean something for this cost.
bool shows_calls(const FunctionProfile& profile, std::size_t cost);

}  // namespace sonde
