#include "report/styles/each_trace.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "report/document.hpp"
#include "report/safe_text.hpp"

namespace sonde {

Result<std::string> each_trace(const TraceSet& traces,
                               const std::function<Result<std::string>(const NamedTrace&)>& print) {
  std::vector<std::pair<const NamedTrace*, std::string>> texts;
  std::optional<Error> lack;
  for (const NamedTrace& named : traces) {
    Result<std::string> text = print(named);
    if (text) {
      texts.emplace_back(&named, std::move(*text));
    } else if (!lack) {
      lack = text.error();
    }
  }
  if (texts.empty() && lack) return *lack;
  std::string out;
  for (const auto& [named, text] : texts) {
    if (texts.size() > 1) out += (out.empty() ? "" : "\n") + safe_text(named->path) + "\n";
    out += text;
  }
  return out;
}

Result<std::string> each_table(const TraceSet& traces, const ReportRequest& request,
                               const std::string& block,
                               const std::function<Result<Table>(const NamedTrace&)>& rows) {
  std::vector<Document> documents;
  for (const NamedTrace& named : traces) {
    Result<Table> table = rows(named);
    if (!table) return table.error();
    Document document;
    document.view = request.view;
    document.run = traces.size() > 1 ? named.path : named.run;
    document.title = named.path;
    document.csv_block = block;
    document.blocks.push_back({block, "", std::move(*table), "No operators in this trace.", {}});
    document.losses = collect_losses({&named, 1});
    documents.push_back(std::move(document));
  }
  return render_documents(documents, request.format, request.render);
}

}  // namespace sonde
