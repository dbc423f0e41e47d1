#include "import/sonde_run/tables/table_codes.hpp"

#include <algorithm>

#include "base/demangle.hpp"

namespace sonde {

TableCodes::TableCodes(const TablesFile& file, TraceBuilder& builder)
    : builder_(builder), texts_(file.texts) {
  read_codes(file);
  read_frames(file);
}

StringId TableCodes::text(std::uint32_t id) {
  if (id == 0) return StringId();
  if (const StringId* found = texts_.find(id)) return *found;
  ++bad_numbers_;
  return StringId();
}

void TableCodes::read_codes(const TablesFile& file) {
  for (const tables::CodeRow& row : file.codes) {
    Code code;
    code.name = text(row.name);
    if (!code.name.valid()) code.name = builder_.intern("?");
    if (row.flags & tables::kNativeFrame) {
      code.name = builder_.intern(demangled(std::string(builder_.text(code.name))));
    }
    code.qualified_name = text(row.qualified_name);
    code.file = text(row.file);
    code.line = std::max(row.first_line, 0);
    code.flags = row.flags;
    code_rows_.set(row.id, static_cast<std::uint32_t>(codes_.size()));
    codes_.push_back(code);
  }
}

const TableCodes::Code* TableCodes::code(std::uint32_t id) {
  if (id == 0) return nullptr;
  if (const std::uint32_t* found = code_rows_.find(id)) return &codes_[*found];
  ++bad_numbers_;
  return nullptr;
}

// Callers come before what they call in an honest file; another one may name them in any order, or
// in a circle.
void TableCodes::read_frames(const TablesFile& file) {
  FlatMap<std::uint32_t> rows;
  rows.reserve(std::min<std::size_t>(file.frames.size(), std::size_t{1} << 24));
  for (std::size_t i = 0; i < file.frames.size(); ++i) {
    rows.set(file.frames[i].id, static_cast<std::uint32_t>(i));
  }
  enum class State : std::uint8_t { New, Open, Done };
  std::vector<State> states(file.frames.size(), State::New);
  std::vector<std::uint32_t> way;
  for (std::size_t first = 0; first < file.frames.size(); ++first) {
    way.clear();
    // Up to the first caller that is known, then down again.
    for (auto at = static_cast<std::uint32_t>(first); states[at] == State::New;) {
      states[at] = State::Open;
      way.push_back(at);
      const std::uint32_t caller = file.frames[at].caller;
      if (caller == 0) break;
      const std::uint32_t* const row = rows.find(caller);
      if (row == nullptr) {
        ++bad_numbers_;
        break;
      }
      if (states[*row] == State::Open) ++circles_;
      at = *row;
    }
    while (!way.empty()) {
      const tables::FrameRow& row = file.frames[way.back()];
      states[way.back()] = State::Done;
      way.pop_back();
      StackFrame frame;
      if (row.caller != 0) {
        const StackId* const caller = stacks_.find(row.caller);
        if (caller != nullptr) frame.caller = *caller;
      }
      const Code* const what = code(row.code);
      frame.function = what != nullptr ? what->best_name() : builder_.intern("?");
      if (what != nullptr) frame.file = what->file;
      frame.line = std::max(row.line, 0);
      stacks_.set(row.id, builder_.intern_stack(frame));
    }
  }
}

StackId TableCodes::stack(std::uint32_t frame) {
  if (frame == 0) return StackId();
  if (const StackId* found = stacks_.find(frame)) return *found;
  ++bad_numbers_;
  return StackId();
}

void TableCodes::tell_losses() {
  if (bad_numbers_ > 0) {
    builder_.losses().add("unknown_numbers", Severity::Warning,
                          "Rows of a .tables file that name a text, a function or a stack which is "
                          "not in it",
                          bad_numbers_);
  }
  if (circles_ > 0) {
    builder_.losses().add("stack_circles", Severity::Warning,
                          "Stacks of a .tables file that lead back to themselves; they are cut",
                          circles_);
  }
}

}  // namespace sonde
