#include <fmt/format.h>

#include "report/document_formats.hpp"

namespace sonde {
namespace {

void write(std::string& out, const Facts& facts) {
  for (const Fact& fact : facts) {
    const std::string shown = fact.shown.empty() ? cell_text(fact.value, fact.type) : fact.shown;
    out += fmt::format("- **{}**: {}\n", markdown_text(fact.label), markdown_text(shown));
  }
}

void write(std::string& out, const AdviceList& list) {
  for (const Advice& advice : list) {
    out += fmt::format("1. **{}** ({}). {}", markdown_text(advice.headline),
                       advice_weight_name(advice.weight), markdown_text(advice.why));
    if (!advice.subjects.empty()) {
      out += " Seen on ";
      for (std::size_t i = 0; i < advice.subjects.size(); ++i) {
        out += (i ? ", " : "") + markdown_text(advice.subjects[i]);
      }
      out += ".";
    }
    out += fmt::format(" {}\n", markdown_text(advice.action));
  }
}

}  // namespace

std::string documents_markdown(const std::vector<Document>& documents) {
  std::string out;
  for (const Document& document : documents) {
    if (!out.empty()) out += "\n";
    if (!document.title.empty()) out += "# " + markdown_text(document.title) + "\n";
    for (const Block& block : document.blocks) {
      if (!block.title.empty()) out += "\n## " + markdown_text(block.title) + "\n";
      out += "\n";
      const Table* table = std::get_if<Table>(&block.content);
      const AdviceList* advice = std::get_if<AdviceList>(&block.content);
      if (const Facts* facts = std::get_if<Facts>(&block.content)) write(out, *facts);
      if (advice && !advice->empty()) write(out, *advice);
      if (table && !table->empty()) out += render_markdown(*table);
      if ((table && table->empty()) || (advice && advice->empty())) {
        out += markdown_text(block.when_empty) + "\n";
      }
      for (const std::string& note : block.notes) out += "\n" + markdown_text(note) + "\n";
    }
    if (document.losses.empty()) continue;
    out += "\n## Lost while reading\n\n";
    for (const Loss& loss : document.losses) {
      out += fmt::format("- {}: {}: {}\n", severity_name(loss.entry.severity),
                         markdown_text(loss.path), markdown_text(loss_sentence(loss.entry)));
    }
  }
  return out;
}

}  // namespace sonde
