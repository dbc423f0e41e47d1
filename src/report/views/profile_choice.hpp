#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/function_profile.hpp"
#include "report/report.hpp"

namespace sonde {

// What the views of functions, lines and memory make of --from, --weight and --filter.

// Whether one of the texts has the request's filter in it, in any case; always without a filter.
bool row_matches(const ReportRequest& request, std::initializer_list<std::string_view> texts);

// The source that --from names; None without it.
ProfileSource wanted_source(const ReportRequest& request);

// The profile that the request asks for: of one source, and of one cost where it names one. Of a
// recorded run people get the first cost only.
FunctionProfile requested_profile(RunTraces traces, const ReportRequest& request, ProfileNeed need,
                                  std::size_t* left_out);

// Says below the table where the numbers come from and how to get the others, where there are.
void note_choice(RunTraces traces, const ReportRequest& request, ProfileNeed need,
                 const FunctionProfile& profile, Block& block);

// Of stacks, which have one source: how to get those by another cost.
void note_weights(RunTraces traces, const ReportRequest& request, Block& block);

// An Error of usage where the traces do not have what --from or --weight names.
Result<bool> check_functions(RunTraces traces, const ReportRequest& request);
Result<bool> check_lines(RunTraces traces, const ReportRequest& request);

}  // namespace sonde
