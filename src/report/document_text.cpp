#include <fmt/format.h>

#include <algorithm>

#include "report/document_formats.hpp"
#include "report/paint.hpp"
#include "report/wrap.hpp"

namespace sonde {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const RenderOptions& options) : options_(options), paint_(options.color) {}

  void document(const Document& document) {
    if (!out_.empty()) out_ += "\n";
    const std::string title =
        shorten(safe_text(document.title), options_.width, Cut::Middle, ellipsis());
    if (!title.empty()) out_ += paint_.title(title) + "\n";
    for (const Block& block : document.blocks) {
      if (block.title.empty() && &block != &document.blocks.front()) out_ += "\n";
      write(block);
    }
    losses(document);
  }

  std::string take() { return std::move(out_); }

 private:
  std::string ellipsis() const { return options_.unicode ? "…" : "..."; }

  void heading(const std::string& title) {
    if (title.empty()) return;
    if (!out_.empty()) out_ += "\n";
    out_ += paint_.bold(shorten(safe_text(title), options_.width, Cut::End, ellipsis())) + "\n";
  }

  void sentence(const std::string& text, const std::string& indent) {
    out_ += wrap_text(safe_text(text), options_.width, indent);
  }

  void write(const Block& block) {
    heading(block.title);
    if (const Facts* facts = std::get_if<Facts>(&block.content)) write(*facts);
    if (const AdviceList* advice = std::get_if<AdviceList>(&block.content)) {
      if (advice->empty()) {
        sentence(block.when_empty, "  ");
      } else {
        write(*advice);
      }
    }
    if (const Table* table = std::get_if<Table>(&block.content)) {
      if (!table->empty()) {
        out_ += render_text(*table, options_);
      } else if (!block.when_empty.empty()) {
        sentence(block.when_empty, "  ");
      }
    }
    for (const std::string& note : block.notes) {
      for (const char c : wrap_text(safe_text(note), options_.width, "  ")) out_ += c;
    }
  }

  void write(const Facts& facts) {
    std::size_t label = 0;
    for (const Fact& fact : facts) label = std::max(label, display_width(fact.label));
    for (const Fact& fact : facts) {
      const std::string shown =
          fact.shown.empty() ? cell_text(fact.value, fact.type) : safe_text(fact.shown);
      const std::string indent(label + 4, ' ');
      const std::string body = wrap_text(shown, options_.width, indent);
      const std::string head = "  " + fact.label;
      const std::string gap(indent.size() - display_width(head), ' ');
      out_ += "  " + paint_.dim(fact.label) + gap +
              (body.size() > indent.size() ? body.substr(indent.size()) : "\n");
    }
  }

  void write(const AdviceList& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Advice& advice = list[i];
      const std::string number = fmt::format("{:>3}. ", i + 1);
      const std::string mark = fmt::format("[{}] ", advice_weight_name(advice.weight));
      const std::string indent(number.size(), ' ');
      const std::string text = wrap_text(mark + safe_text(advice.headline), options_.width, indent);
      const std::string painted = advice.weight == AdviceWeight::High     ? paint_.bad(mark)
                                  : advice.weight == AdviceWeight::Medium ? paint_.warning(mark)
                                                                          : paint_.dim(mark);
      out_ += number + painted + text.substr(indent.size() + mark.size());
      sentence(advice.why, indent);
      if (!advice.subjects.empty()) sentence(subjects(advice), indent);
      for (const char c : wrap_text("-> " + advice.action, options_.width, indent)) out_ += c;
    }
  }

  static std::string subjects(const Advice& advice) {
    if (advice.subjects.size() == 1) return "Seen on " + advice.subjects.front() + ".";
    const bool ranks = advice.subjects.front().starts_with("rank ");
    return fmt::format("Seen on {} {}; the numbers are those of {}.", advice.subjects.size(),
                       ranks ? "ranks" : "traces", advice.subjects.front());
  }

  void losses(const Document& document) {
    if (document.losses.empty()) return;
    heading("Lost while reading");
    const bool several =
        std::any_of(document.losses.begin(), document.losses.end(),
                    [&](const Loss& loss) { return loss.path != document.losses.front().path; });
    for (const Loss& loss : document.losses) {
      const std::string mark = fmt::format("{:<8}", severity_name(loss.entry.severity));
      std::string text = loss_sentence(loss.entry);
      if (several) text.insert(0, safe_text(loss.path) + ": ");
      const std::string indent(2 + mark.size(), ' ');
      const std::string body = wrap_text(text, options_.width, indent);
      const std::string painted = loss.entry.severity == Severity::Error     ? paint_.bad(mark)
                                  : loss.entry.severity == Severity::Warning ? paint_.warning(mark)
                                                                             : paint_.dim(mark);
      out_ += "  " + painted + body.substr(std::min(body.size(), indent.size()));
    }
  }

  const RenderOptions& options_;
  Paint paint_;
  std::string out_;
};

}  // namespace

std::string documents_text(const std::vector<Document>& documents, const RenderOptions& options) {
  TextWriter writer(options);
  for (const Document& document : documents) writer.document(document);
  return writer.take();
}

}  // namespace sonde
