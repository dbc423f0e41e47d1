#include "report/report.hpp"

#include <vector>

namespace sonde {

std::string report_documents(const TraceSet& traces, const ReportRequest& request,
                             BuildDocument build) {
  std::vector<Document> documents;
  std::size_t first = 0;
  while (first < traces.size()) {
    std::size_t end = first + 1;
    while (end < traces.size() && traces[end].run == traces[first].run) ++end;
    const RunTraces run(traces.data() + first, end - first);
    Document document = build(run, request);
    document.run = run.front().run;
    document.losses = collect_losses(run);
    documents.push_back(std::move(document));
    first = end;
  }
  return render_documents(documents, request.format, request.render);
}

}  // namespace sonde
