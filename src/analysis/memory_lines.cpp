#include "analysis/memory_lines.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde {
namespace {

void add(std::int64_t& into, std::int64_t value) {
  if (__builtin_add_overflow(into, value, &into)) into = value > 0 ? INT64_MAX : INT64_MIN;
}

// The innermost frame with a line, else the innermost one. The way up is looked at once for each
// frame: a caller stands before what it calls.
std::vector<StackId> places_of(const Trace& trace) {
  const std::vector<StackFrame>& frames = trace.stacks();
  std::vector<StackId> out(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const StackId caller = frames[i].caller;
    const bool better = frames[i].line <= 0 && caller.valid() && caller.index() < i &&
                        frames[out[caller.index()].index()].line > 0;
    out[i] = better ? out[caller.index()] : StackId(i);
  }
  return out;
}

}  // namespace

std::vector<MemoryLine> memory_lines(std::span<const Trace* const> traces) {
  std::vector<MemoryLine> out;
  std::map<std::tuple<std::string_view, std::string_view, std::int32_t>, std::size_t> known;
  for (const Trace* const one : traces) {
    const Trace& trace = *one;
    if (trace.process_memory().sites.empty()) continue;
    const std::vector<StackId> places = places_of(trace);
    for (const ProcessMemory::Site& site : trace.process_memory().sites) {
      MemoryLine row;
      row.function = "(no Python frame)";
      if (site.stack.valid() && site.stack.index() < places.size()) {
        const StackFrame& frame = trace.stacks()[places[site.stack.index()].index()];
        row.file = trace.text(frame.file);
        row.function = trace.text(frame.function);
        row.line = frame.line;
      }
      const auto [at, added] = known.try_emplace({row.file, row.function, row.line}, out.size());
      if (added) out.push_back(row);
      MemoryLine& line = out[at->second];
      add(line.allocations, site.allocations);
      add(line.allocated, site.allocated_bytes);
      add(line.net, site.live_bytes());
      add(line.peak, site.peak_bytes);
      if (site.native) add(line.native, site.allocated_bytes);
    }
  }
  return out;
}

std::vector<ExecutedLine> executed_lines(std::span<const Trace* const> traces) {
  using Key = std::tuple<std::string_view, std::int32_t, std::string_view, std::int32_t>;
  std::map<Key, ExecutedLine> rows;
  for (const Trace* const one : traces) {
    const Trace& trace = *one;
    for (const ProcessMemory::Line& line : trace.process_memory().lines) {
      const std::string_view file = trace.text(line.file);
      const std::string_view function = trace.text(line.function);
      const auto [at, added] =
          rows.try_emplace(Key(file, line.function_line, function, line.line),
                           ExecutedLine{file, function, line.function_line, line.line, line.hits,
                                        line.bytes, line.increment, line.peak});
      if (added) continue;
      ExecutedLine& row = at->second;
      add(row.hits, line.hits);
      add(row.increment, line.increment);
      row.bytes = std::max(row.bytes, line.bytes);
      row.peak = std::max(row.peak, line.peak);
    }
  }
  std::vector<ExecutedLine> out;
  out.reserve(rows.size());
  for (const auto& [key, row] : rows) out.push_back(row);
  return out;
}

}  // namespace sonde
