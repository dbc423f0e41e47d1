#include "import/nsys/callchains.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sonde::nsys {
namespace {

struct Frame {
  std::int64_t depth;  // 0 is the innermost
  StringId function;
  StringId module;
};

constexpr std::size_t kMaxFrames = 1024;

}  // namespace

Callchains Callchains::of_calls(ReportFile& file, std::string_view table,
                                const SqliteFile::Table& calls) {
  if (file.builder().selection() == nullptr) return Callchains(file, table, std::nullopt);
  std::unordered_set<std::int64_t> ids;
  TableReader rows(file.database(), calls, {"start", "end", "callchainId"});
  while (rows.next()) {
    const auto id = rows.integer(2);
    if (id && file.wants(rows.integer(0), rows.integer(1))) ids.insert(*id);
  }
  return Callchains(file, table, ids);
}

Callchains Callchains::of_samples(ReportFile& file, std::string_view table,
                                  const SqliteFile::Table& samples) {
  if (file.builder().selection() == nullptr) return Callchains(file, table, std::nullopt);
  std::unordered_set<std::int64_t> ids;
  TableReader rows(file.database(), samples, {"start", "id"});
  while (rows.next()) {
    const auto id = rows.integer(1);
    if (id && file.wants(rows.integer(0), rows.integer(0))) ids.insert(*id);
  }
  return Callchains(file, table, ids);
}

Callchains::Callchains(ReportFile& file, std::string_view name, const Wanted& wanted) {
  const SqliteFile::Table* table = file.database().table(name);
  if (table == nullptr || (wanted && wanted->empty())) return;
  TraceBuilder& builder = file.builder();
  std::map<std::int64_t, std::vector<Frame>> chains;
  TableReader rows(file.database(), *table, {"id", "symbol", "module", "stackDepth", "unresolved"});
  while (rows.next()) {
    const auto id = rows.integer(0);
    if (!id || (wanted && !wanted->contains(*id))) continue;
    std::vector<Frame>& frames = chains[*id];
    if (frames.size() >= kMaxFrames) continue;
    StringId function = file.text(rows.integer(1));
    if (!function.valid()) function = builder.intern("[unknown]");
    frames.push_back({rows.integer(3, static_cast<std::int64_t>(frames.size())), function,
                      file.text(rows.integer(2))});
  }
  file.note_damage(*table, rows);
  for (auto& [id, frames] : chains) {
    std::stable_sort(frames.begin(), frames.end(),
                     [](const Frame& a, const Frame& b) { return a.depth < b.depth; });
    StackId stack;
    std::string text;
    for (std::size_t i = frames.size(); i-- > 0;) {
      stack = builder.intern_stack({stack, frames[i].function, frames[i].module, 0});
    }
    for (const Frame& frame : frames) {
      if (!text.empty()) text += ';';
      text += builder.text(frame.function);
    }
    stacks_[id] = stack;
    texts_[id] = builder.intern(text);
  }
}

StackId Callchains::stack(std::optional<std::int64_t> id) const {
  const auto found = id ? stacks_.find(*id) : stacks_.end();
  return found == stacks_.end() ? StackId() : found->second;
}

StringId Callchains::text(std::optional<std::int64_t> id) const {
  const auto found = id ? texts_.find(*id) : texts_.end();
  return found == texts_.end() ? StringId() : found->second;
}

}  // namespace sonde::nsys
