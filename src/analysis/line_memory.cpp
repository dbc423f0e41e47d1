#include "analysis/line_memory.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/saturated.hpp"

namespace sonde {
namespace {

using Function = LineMemory::Function;

// A comprehension or the like, which has no block of its own in the source.
bool is_part(std::string_view name) {
  return name.starts_with('<') && name != "<module>" && name != "<lambda>";
}

void find_source(Function& function, std::int32_t first_line, SourceFiles& files) {
  const std::vector<std::string>* source = files.lines(function.file);
  function.has_source = source != nullptr;
  const std::int64_t lowest = function.lines.begin()->first;
  const std::int64_t highest = function.lines.rbegin()->first;
  function.first = first_line > 0 ? std::min<std::int64_t>(first_line, lowest) : lowest;
  function.end = highest + 1;
  if (source == nullptr || is_part(function.name)) return;
  if (function.name == "<module>") {
    function.first = 1;
    function.end =
        std::max<std::int64_t>(function.end, static_cast<std::int64_t>(source->size()) + 1);
  } else if (first_line > 0 && static_cast<std::size_t>(first_line) <= source->size()) {
    const std::size_t length =
        python_block_length(std::span(*source).subspan(static_cast<std::size_t>(first_line - 1)));
    function.end =
        std::max<std::int64_t>(function.end, first_line + static_cast<std::int64_t>(length));
  }
}

void merge(Function& into, const Function& from) {
  for (const auto& [line, numbers] : from.lines) {
    LineMemory::Line& sum = into.lines[line];
    sum.hits = saturated_sum(sum.hits, numbers.hits);
    sum.increment = saturated_sum(sum.increment, numbers.increment);
    sum.peak = std::max(sum.peak, numbers.peak);
  }
}

}  // namespace

LineMemory line_memory(const Trace& trace, SourceFiles& files) {
  std::vector<Function> all;
  std::vector<std::int32_t> first_lines;
  std::map<std::tuple<StringId, StringId, std::int32_t>, std::size_t> rows;
  for (const ProcessMemory::Line& line : trace.process_memory().lines) {
    const auto [at, inserted] =
        rows.try_emplace({line.file, line.function, line.function_line}, all.size());
    if (inserted) {
      all.emplace_back();
      all.back().file = trace.text(line.file);
      all.back().name = trace.text(line.function);
      first_lines.push_back(line.function_line);
    }
    LineMemory::Line& sum = all[at->second].lines[line.line];
    sum.hits = saturated_sum(sum.hits, line.hits);
    sum.increment = saturated_sum(sum.increment, line.increment);
    sum.peak = std::max(sum.peak, line.peak);
  }
  for (std::size_t i = 0; i < all.size(); ++i) find_source(all[i], first_lines[i], files);

  // The outermost function around each one; a module is not the home of its functions.
  std::map<std::string_view, std::vector<std::size_t>> by_file;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name != "<module>") by_file[all[i].file].push_back(i);
  }
  std::vector<bool> gone(all.size());
  for (auto& [file, list] : by_file) {
    std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(all[a].first, -all[a].end, a) < std::tuple(all[b].first, -all[b].end, b);
    });
    std::size_t outer = list.front();
    for (const std::size_t i : list) {
      const bool inside = i != outer && all[i].end <= all[outer].end &&
                          (all[i].first > all[outer].first || is_part(all[i].name));
      if (inside) {
        merge(all[outer], all[i]);
        gone[i] = true;
      } else if (all[i].end > all[outer].end) {
        outer = i;
      }
    }
  }
  LineMemory out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!gone[i]) out.functions.push_back(std::move(all[i]));
  }
  return out;
}

}  // namespace sonde
