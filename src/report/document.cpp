#include "report/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.hpp"
#include "report/document_formats.hpp"

namespace sonde {

std::vector<Loss> collect_losses(std::span<const NamedTrace> traces) {
  std::vector<Loss> out;
  for (const NamedTrace& named : traces) {
    for (const LossLedger::Entry& entry : named.trace.losses().entries()) {
      out.push_back({named.path, entry});
    }
  }
  return out;
}

std::string loss_sentence(const LossLedger::Entry& entry) {
  std::string out = safe_text(entry.sentence);
  while (!out.empty() && out.back() == '.') out.pop_back();
  out +=
      fmt::format(" ({}", format_plural(static_cast<std::int64_t>(entry.count), "time", "times"));
  if (entry.first_offset != LossLedger::kNoOffset) {
    out += fmt::format(", first at byte {}", entry.first_offset);
  }
  return out + ")";
}

std::vector<std::string> document_notes(const Document& document) {
  std::vector<std::string> out;
  for (const Block& block : document.blocks) {
    const Table* table = std::get_if<Table>(&block.content);
    if (table && table->empty() && !block.when_empty.empty()) out.push_back(block.when_empty);
    out.insert(out.end(), block.notes.begin(), block.notes.end());
  }
  return out;
}

std::string render_documents(const std::vector<Document>& documents, const std::string& format,
                             const RenderOptions& options) {
  if (format == "json") return documents_json(documents);
  if (format == "csv") return documents_csv(documents);
  if (format == "markdown") return documents_markdown(documents);
  return documents_text(documents, options);
}

}  // namespace sonde
