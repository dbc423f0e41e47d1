#include "analysis/line_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/python_stats.hpp"
#include "base/saturated.hpp"

namespace sonde {
namespace {

// A profile of lines alone lists functions that never ran too.
bool has_lines_only(const FunctionProfile& profile) {
  return profile.source == ProfileSource::Counted && profile.calls.empty() &&
         std::all_of(profile.functions.begin(), profile.functions.end(),
                     [](const FunctionProfile::Function& f) { return f.calls == 0; });
}

}  // namespace

LineReport line_report(const Trace& trace) {
  LineReport out;
  const FunctionProfile all = function_profile(trace);
  out.source = all.source;
  if (all.costs.empty()) return out;
  const FunctionProfile profile = with_one_cost(all, time_cost(all.costs));
  const bool only_lines = has_lines_only(profile) && trace.meta().format == "lprof";
  if (profile.lines.empty() && !only_lines) return out;
  out.cost = profile.costs.front();
  const bool timed = out.cost.unit == "ns";
  if (profile.source == ProfileSource::Counted && timed) out.tick = trace.call_profile().tick;
  if (!timed) out.tick = 1;
  const bool has_totals = !profile.line_total.empty();
  out.with_callees = has_totals || !profile.line_self_known;
  const double nanos = timed ? out.tick * 1e9 : 1;
  const auto ticks = [&](double cost) {
    // Costs of a clock were whole ticks before they became nanoseconds.
    return profile.source == ProfileSource::Counted ? std::round(cost / nanos) : cost / nanos;
  };

  // Lines that several code objects of a name have in common are one.
  using Place = std::tuple<std::string_view, std::int32_t, std::string_view>;
  std::map<Place, std::map<std::int32_t, LineReport::Line>> functions;
  if (only_lines) {
    for (const FunctionProfile::Function& f : profile.functions)
      functions[{f.file, f.line, f.name}];
  }
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    const FunctionProfile::Line& row = profile.lines[i];
    const FunctionProfile::Function& f = profile.functions[row.function];
    LineReport::Line& line = functions[{row.file, f.line, f.name}][row.line];
    line.line = row.line;
    line.hits = saturated_sum(line.hits, row.hits);
    line.ticks += ticks(has_totals ? profile.line_total[i] : profile.line_self[i]);
  }
  for (auto& [place, lines] : functions) {
    LineReport::Function function{
        std::get<0>(place), std::get<1>(place), std::get<2>(place), {}, 0};
    for (const auto& [number, line] : lines) {
      function.lines.push_back(line);
      function.ticks += line.ticks;
    }
    out.functions.push_back(std::move(function));
  }
  return out;
}

}  // namespace sonde
