#include "cli/run_summary.hpp"

#include "cli/output.hpp"
#include "cli/reading.hpp"
#include "cli/usage.hpp"
#include "report/registry.hpp"

namespace sonde {

void print_run_summary(const std::string& folder) {
  const Result<TraceSet> traces = read_traces({folder});
  if (!traces) return print_error(traces.error().text());
  ReportRequest request;
  const Result<const ReportView*> view = find_view(request);
  if (!view) return;
  request.render = error_render_options();
  Result<std::string> text = (*view)->render(*traces, request);
  if (!text) return print_error(text.error().text());
  write_error_output("\n" + *text + "\n");
}

}  // namespace sonde
