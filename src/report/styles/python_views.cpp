#include "report/styles/python_views.hpp"

#include <string>
#include <utility>

#include "base/split.hpp"
#include "report/styles/each_trace.hpp"
#include "report/styles/line_profiler.hpp"
#include "report/styles/memory_profiler.hpp"
#include "report/styles/pprofile.hpp"
#include "report/styles/pstats.hpp"
#include "report/styles/pympler.hpp"

namespace sonde {
namespace {

Result<std::string> pstats_report(const TraceSet& traces, const ReportRequest& request) {
  PstatsRequest question;
  question.views = split(request.view, ',');
  if (!request.sort.empty()) question.sort = split(request.sort, ',');
  question.restrictions = request.restrictions;
  if (request.limit && *request.limit > 0) {
    question.restrictions.push_back(std::to_string(*request.limit));
  }
  question.strip_dirs = request.strip_dirs;
  return pstats_text(traces, question);
}

Result<std::string> line_profiler_report(const TraceSet& traces, const ReportRequest& request) {
  LineProfilerRequest question;
  question.skip_zero = request.skip_zero;
  if (request.time_unit == "s") question.unit = 1;
  if (request.time_unit == "ms") question.unit = 1e-3;
  if (request.time_unit == "ns") question.unit = 1e-9;
  return each_trace(traces,
                    [&](const NamedTrace& named) { return line_profiler_text(named, question); });
}

Result<std::string> memory_profiler_report(const TraceSet& traces, const ReportRequest& request) {
  const int precision = static_cast<int>(request.precision.value_or(1));
  return each_trace(
      traces, [&](const NamedTrace& named) { return memory_profiler_text(named, precision); });
}

Result<std::string> pympler_report(const TraceSet& traces, const ReportRequest& request) {
  PymplerRequest question;
  question.difference = request.view == "diff";
  if (!request.sort.empty()) question.sort = request.sort;
  question.ascending = request.ascending;
  question.row_limit = request.row_limit(question.row_limit);
  return each_trace(traces, [&](const NamedTrace& named) { return pympler_text(named, question); });
}

ReportView pstats_view(std::string name, std::string description) {
  ReportView view{"pstats", std::move(name), std::move(description), pstats_sort_keys(),
                  {},       {"text"},        pstats_report,          pstats_abbreviations()};
  view.combines = true;
  view.many_keys = true;
  return view;
}

ReportView pympler_view(std::string name, std::string description) {
  ReportView view{"pympler", std::move(name), std::move(description), pympler_sort_keys(),
                  {},        {"text"},        pympler_report,         {"#"}};
  view.both_directions = true;
  return view;
}

}  // namespace

std::vector<ReportView> python_style_views() {
  std::vector<ReportView> views;
  views.push_back(pstats_view("stats", "functions, as print_stats() of Python's pstats"));
  views.push_back(pstats_view("callers", "who called them, as its print_callers()"));
  views.push_back(pstats_view("callees", "whom they called, as its print_callees()"));
  views.push_back({"line_profiler",
                   "lines",
                   "lines of functions, as line_profiler prints them",
                   {},
                   {},
                   {"text"},
                   line_profiler_report});
  views.push_back({"pprofile",
                   "source",
                   "annotated source, as pprofile prints it",
                   {},
                   {},
                   {"text"},
                   [](const TraceSet& traces, const ReportRequest&) {
                     return each_trace(traces, pprofile_text);
                   }});
  views.push_back({"memory_profiler",
                   "lines",
                   "memory line by line, as memory_profiler prints it",
                   {},
                   {},
                   {"text"},
                   memory_profiler_report});
  views.push_back(pympler_view("summary", "objects by type, as pympler's summary.print_()"));
  views.push_back(pympler_view("diff", "what changed, as its SummaryTracker.print_diff()"));
  return views;
}

}  // namespace sonde
