// The part of TraceCopier that adds sums to those of other traces.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "trace/copier.hpp"

namespace sonde {
namespace {

std::int64_t add_held(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

// Finds rows again by what they are, and adds their costs up.
class ProfileSum {
 public:
  explicit ProfileSum(CallProfile& into) : into_(into) {
    for (std::size_t i = 0; i < into.functions.size(); ++i) {
      functions_.emplace(key_of(into.functions[i]), FunctionId(i));
    }
    for (std::size_t i = 0; i < into.calls.size(); ++i) calls_.emplace(key_of(into.calls[i]), i);
    for (std::size_t i = 0; i < into.lines.size(); ++i) lines_.emplace(key_of(into.lines[i]), i);
  }

  void add(const CallProfile& from) {
    find_columns(from);
    std::vector<FunctionId> functions;
    for (std::size_t i = 0; i < from.functions.size(); ++i) {
      CallProfile::Function row = from.functions[i];
      const auto [at, added] =
          functions_.try_emplace(key_of(row), FunctionId(into_.functions.size()));
      if (added) {
        into_.functions.push_back(row);
        into_.functions.back().calls = into_.functions.back().primitive_calls = 0;
      }
      CallProfile::Function& known = into_.functions[at->second.index()];
      known.calls = add_held(known.calls, row.calls);
      known.primitive_calls = add_held(known.primitive_calls, row.primitive_calls);
      functions.push_back(at->second);
      add_costs(into_.function_self, at->second.index(), from.function_self, i);
      add_costs(into_.function_total, at->second.index(), from.function_total, i);
    }
    for (std::size_t i = 0; i < from.calls.size(); ++i) {
      CallProfile::Call row = from.calls[i];
      row.caller = functions[row.caller.index()];
      row.callee = functions[row.callee.index()];
      const auto [at, added] = calls_.try_emplace(key_of(row), into_.calls.size());
      if (added) {
        into_.calls.push_back(row);
        into_.calls.back().calls = into_.calls.back().primitive_calls = 0;
      }
      CallProfile::Call& known = into_.calls[at->second];
      known.calls = add_held(known.calls, row.calls);
      known.primitive_calls = add_held(known.primitive_calls, row.primitive_calls);
      add_costs(into_.call_self, at->second, from.call_self, i);
      add_costs(into_.call_total, at->second, from.call_total, i);
    }
    for (std::size_t i = 0; i < from.lines.size(); ++i) {
      CallProfile::Line row = from.lines[i];
      row.function = functions[row.function.index()];
      const auto [at, added] = lines_.try_emplace(key_of(row), into_.lines.size());
      if (added) {
        into_.lines.push_back(row);
        into_.lines.back().hits = 0;
      }
      into_.lines[at->second].hits = add_held(into_.lines[at->second].hits, row.hits);
      add_costs(into_.line_self, at->second, from.line_self, i);
    }
    into_.sampled = into_.sampled || from.sampled;
    into_.call_costs_known = into_.call_costs_known && from.call_costs_known;
    into_.callee_self_known = into_.callee_self_known && from.callee_self_known;
    into_.self_known = into_.self_known && from.self_known;
    into_.line_self_known = into_.line_self_known && from.line_self_known;
  }

 private:
  using FunctionKey = std::tuple<StringId, StringId, StringId, std::int32_t>;
  using CallKey = std::tuple<FunctionId, FunctionId, std::int32_t>;
  using LineKey = std::tuple<FunctionId, StringId, std::int32_t>;

  static FunctionKey key_of(const CallProfile::Function& row) {
    return {row.name, row.file, row.module, row.line};
  }
  static CallKey key_of(const CallProfile::Call& row) { return {row.caller, row.callee, row.line}; }
  static LineKey key_of(const CallProfile::Line& row) { return {row.function, row.file, row.line}; }

  // Costs that the sum does not have yet become new columns.
  void find_columns(const CallProfile& from) {
    const std::size_t before = into_.types.size();
    columns_.clear();
    for (const CostType& type : from.types) {
      std::size_t column = 0;
      while (column < into_.types.size() &&
             (into_.types[column].name != type.name || into_.types[column].unit != type.unit)) {
        ++column;
      }
      if (column == into_.types.size()) into_.types.push_back(type);
      columns_.push_back(column);
    }
    const std::size_t now = into_.types.size();
    if (now == before) return;
    for (std::vector<std::int64_t>* list :
         {&into_.function_self, &into_.function_total, &into_.call_self, &into_.call_total,
          &into_.line_self}) {
      const std::size_t rows = before == 0 ? 0 : list->size() / before;
      std::vector<std::int64_t> wider(rows * now);
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t c = 0; c < before; ++c) wider[row * now + c] = (*list)[row * before + c];
      }
      *list = std::move(wider);
    }
  }

  void add_costs(std::vector<std::int64_t>& list, std::size_t row,
                 const std::vector<std::int64_t>& from, std::size_t from_row) {
    const std::size_t types = into_.types.size();
    if (list.size() < (row + 1) * types) list.resize((row + 1) * types);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::int64_t& cost = list[row * types + columns_[i]];
      cost = add_held(cost, from[from_row * columns_.size() + i]);
    }
  }

  CallProfile& into_;
  std::map<FunctionKey, FunctionId> functions_;
  std::map<CallKey, std::size_t> calls_;
  std::map<LineKey, std::size_t> lines_;
  std::vector<std::size_t> columns_;
};

}  // namespace

void TraceCopier::copy_call_profile() {
  if (!filter_.windows.empty() || from_.call_profile().empty()) return;
  CallProfile copy = from_.call_profile();
  for (CostType& type : copy.types) type = {string(type.name), string(type.unit)};
  for (CallProfile::Function& function : copy.functions) {
    function.name = string(function.name);
    function.file = string(function.file);
    function.module = string(function.module);
    function.qualified_name = string(function.qualified_name);
  }
  for (CallProfile::Line& line : copy.lines) line.file = string(line.file);
  if (to_.call_profile().empty()) {
    to_.call_profile() = std::move(copy);
  } else {
    ProfileSum(to_.call_profile()).add(copy);
  }
}

// Sums of places and lines are added up; a snapshot is of one process, whose name it gets.
void TraceCopier::copy_process_memory() {
  if (!filter_.windows.empty()) return;
  const ProcessMemory& from = from_.process_memory();
  ProcessMemory& to = to_.process_memory();
  std::map<std::pair<StackId, bool>, std::size_t> sites;
  for (std::size_t i = 0; i < to.sites.size(); ++i) {
    sites.emplace(std::pair(to.sites[i].stack, to.sites[i].native), i);
  }
  for (ProcessMemory::Site site : from.sites) {
    site.stack = stack(site.stack);
    const auto [at, added] = sites.try_emplace({site.stack, site.native}, to.sites.size());
    if (added) {
      to.sites.push_back(site);
      continue;
    }
    ProcessMemory::Site& known = to.sites[at->second];
    known.allocations = add_held(known.allocations, site.allocations);
    known.allocated_bytes = add_held(known.allocated_bytes, site.allocated_bytes);
    known.frees = add_held(known.frees, site.frees);
    known.freed_bytes = add_held(known.freed_bytes, site.freed_bytes);
    known.peak_bytes = add_held(known.peak_bytes, site.peak_bytes);
  }
  using Key = std::tuple<StringId, StringId, std::int32_t, std::int32_t>;
  const auto key_of = [](const ProcessMemory::Line& line) {
    return Key(line.file, line.function, line.function_line, line.line);
  };
  std::map<Key, std::size_t> lines;
  for (std::size_t i = 0; i < to.lines.size(); ++i) lines.emplace(key_of(to.lines[i]), i);
  for (ProcessMemory::Line line : from.lines) {
    line.file = string(line.file);
    line.function = string(line.function);
    const auto [at, added] = lines.try_emplace(key_of(line), to.lines.size());
    if (added) {
      to.lines.push_back(line);
      continue;
    }
    // Of several processes the largest one tells: their memories are not one.
    ProcessMemory::Line& known = to.lines[at->second];
    known.hits = add_held(known.hits, line.hits);
    known.increment = add_held(known.increment, line.increment);
    known.bytes = std::max(known.bytes, line.bytes);
    known.peak = std::max(known.peak, line.peak);
  }
  for (ProcessMemory::Snapshot snapshot : from.snapshots) {
    std::string label(from_.text(snapshot.label));
    if (!changes_.label.empty()) label = changes_.label + " " + label;
    snapshot.label = to_.intern(label);
    snapshot.time += changes_.shift;
    for (ProcessMemory::ObjectType& type : snapshot.types) type.name = string(type.name);
    to.snapshots.push_back(std::move(snapshot));
  }
}

}  // namespace sonde
