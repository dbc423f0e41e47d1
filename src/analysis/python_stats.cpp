#include "analysis/python_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/saturated.hpp"

namespace sonde {
namespace {

using Key = PythonStats::Key;

constexpr double kNanos = 1e9;
constexpr std::string_view kNoFile = "~";

Key stripped(const Key& key) {
  const std::size_t slash = key.file.rfind('/');
  return {slash == std::string_view::npos ? key.file : key.file.substr(slash + 1), key.line,
          key.name};
}

void add_callers(std::vector<PythonStats::Caller>& into,
                 const std::vector<PythonStats::Caller>& callers) {
  std::map<Key, std::size_t> rows;
  for (std::size_t i = 0; i < into.size(); ++i) rows.emplace(into[i].key, i);
  for (const PythonStats::Caller& caller : callers) {
    const auto [at, inserted] = rows.try_emplace(caller.key, into.size());
    if (inserted) {
      into.push_back(caller);
    } else {
      into[at->second].numbers.add(caller.numbers);
    }
  }
}

}  // namespace

std::size_t time_cost(const std::vector<ProfileCost>& costs) {
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].unit == "ns") return i;
  }
  return 0;
}

void PythonStats::Numbers::add(const Numbers& other) {
  calls = saturated_sum(calls, other.calls);
  primitive_calls = saturated_sum(primitive_calls, other.primitive_calls);
  self += other.self;
  total += other.total;
}

std::optional<PythonStats> PythonStats::of(const Trace& trace) {
  PythonStats out;
  if (!trace.call_profile().empty()) {
    out.read_counted(trace);
  } else {
    out.read_derived(trace);
  }
  if (out.functions_.empty()) return std::nullopt;
  out.sum_up();
  return out;
}

PythonStats::Function& PythonStats::function(const Key& key) {
  const auto [at, inserted] = index_.try_emplace(key, functions_.size());
  if (inserted) functions_.push_back({key, {}, {}});
  return functions_[at->second];
}

void PythonStats::read_counted(const Trace& trace) {
  const CallProfile& from = trace.call_profile();
  std::vector<ProfileCost> costs;
  for (const CostType& type : from.types) {
    costs.push_back({std::string(trace.text(type.name)), std::string(trace.text(type.unit)), true});
  }
  const std::size_t types = costs.size();
  const std::size_t chosen = time_cost(costs);
  if (!costs.empty()) cost_ = costs[chosen];
  const double scale = in_seconds() ? kNanos : 1;
  sampled_ = from.sampled;
  call_costs_known_ = from.call_costs_known;
  self_known_ = from.self_known;
  const auto cost = [&](const std::vector<std::int64_t>& list, std::size_t row) {
    const std::size_t at = row * types + chosen;
    return at < list.size() ? static_cast<double>(list[at]) / scale : 0.0;
  };
  std::vector<Key> keys;
  for (std::size_t i = 0; i < from.functions.size(); ++i) {
    const CallProfile::Function& row = from.functions[i];
    keys.push_back(
        {row.file.valid() ? trace.text(row.file) : kNoFile, row.line, trace.text(row.name)});
    const Numbers numbers{row.calls, row.primitive_calls, cost(from.function_self, i),
                          cost(from.function_total, i)};
    const bool nothing =
        row.calls == 0 && row.primitive_calls == 0 && numbers.self == 0 && numbers.total == 0;
    // Known as a caller only. Python's own profile module has one entry without any number: itself.
    if (nothing && keys.back() != Key{"profile", 0, "profiler"}) continue;
    function(keys.back()).numbers.add(numbers);
  }
  // The places of one call in the source are one call here.
  std::map<std::pair<Key, Key>, std::size_t> rows;
  for (std::size_t i = 0; i < from.calls.size(); ++i) {
    const CallProfile::Call& call = from.calls[i];
    const Key& callee = keys[call.callee.index()];
    const Caller caller{
        keys[call.caller.index()],
        {call.calls, call.primitive_calls, cost(from.call_self, i), cost(from.call_total, i)}};
    std::vector<Caller>& callers = function(callee).callers;
    const auto [at, inserted] = rows.try_emplace({callee, caller.key}, callers.size());
    if (inserted) {
      callers.push_back(caller);
    } else {
      callers[at->second].numbers.add(caller.numbers);
    }
  }
}

void PythonStats::read_derived(const Trace& trace) {
  const FunctionProfile all = function_profile(trace);
  source_ = all.source;
  if (all.costs.empty()) return;
  const FunctionProfile from = with_one_cost(all, time_cost(all.costs));
  cost_ = from.costs.front();
  sampled_ = from.calls_are_samples;
  const double scale = in_seconds() ? kNanos : 1;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < from.functions.size(); ++i) {
    const FunctionProfile::Function& row = from.functions[i];
    keys.push_back({row.file.empty() ? kNoFile : row.file, row.line, row.name});
    function(keys.back())
        .numbers.add({row.calls, row.primitive_calls, from.self[i] / scale, from.total[i] / scale});
  }
  for (std::size_t i = 0; i < from.calls.size(); ++i) {
    const FunctionProfile::Call& call = from.calls[i];
    std::vector<Caller> one{
        {keys[call.caller],
         {call.calls, call.calls, from.call_self[i] / scale, from.call_total[i] / scale}}};
    add_callers(function(keys[call.callee]).callers, one);
  }
}

void PythonStats::sum_up() {
  calls_ = primitive_calls_ = 0;
  self_ = 0;
  for (const Function& function : functions_) {
    calls_ = saturated_sum(calls_, function.numbers.calls);
    primitive_calls_ = saturated_sum(primitive_calls_, function.numbers.primitive_calls);
    self_ += function.numbers.self;
  }
}

void PythonStats::add(const PythonStats& other) {
  calls_ = saturated_sum(calls_, other.calls_);
  primitive_calls_ = saturated_sum(primitive_calls_, other.primitive_calls_);
  self_ += other.self_;
  call_costs_known_ = call_costs_known_ && other.call_costs_known_;
  self_known_ = self_known_ && other.self_known_;
  for (const Function& from : other.functions_) {
    Function& into = function(from.key);
    into.numbers.add(from.numbers);
    add_callers(into.callers, from.callers);
  }
}

void PythonStats::strip_dirs() {
  std::vector<Function> old;
  old.swap(functions_);
  index_.clear();
  for (const Function& from : old) {
    std::vector<Caller> callers;
    std::map<Key, std::size_t> rows;
    for (const Caller& caller : from.callers) {
      const Key key = stripped(caller.key);
      const auto [at, inserted] = rows.try_emplace(key, callers.size());
      if (inserted) {
        callers.push_back({key, caller.numbers});
      } else {
        callers[at->second].numbers = caller.numbers;
      }
    }
    Function& into = function(stripped(from.key));
    into.numbers.add(from.numbers);
    add_callers(into.callers, callers);
  }
}

const PythonStats::Function* PythonStats::find(const Key& key) const {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &functions_[at->second];
}

std::vector<std::vector<PythonStats::Caller>> PythonStats::callees() const {
  std::vector<std::vector<Caller>> out(functions_.size());
  for (const Function& function : functions_) {
    for (const Caller& caller : function.callers) {
      const auto at = index_.find(caller.key);
      if (at != index_.end()) out[at->second].push_back({function.key, caller.numbers});
    }
  }
  return out;
}

std::string python_standard_name(const Key& key) {
  if (key.file == kNoFile && key.line == 0) {
    const bool bracketed = key.name.starts_with('<') && key.name.ends_with('>');
    if (!bracketed) return std::string(key.name);
    const std::string_view inner =
        key.name.size() < 2 ? std::string_view() : key.name.substr(1, key.name.size() - 2);
    return fmt::format("{{{}}}", inner);
  }
  return fmt::format("{}:{}({})", key.file, key.line, key.name);
}

namespace {

struct SortWord {
  const char* word;
  PythonSortKey key;
};

const std::vector<SortWord>& sort_words() {
  static const std::vector<SortWord> kWords = {
      {"calls", {{-1 - 1}, "call count"}},
      {"ncalls", {{-1 - 1}, "call count"}},
      {"cumtime", {{-1 - 3}, "cumulative time"}},
      {"cumulative", {{-1 - 3}, "cumulative time"}},
      {"filename", {{4}, "file name"}},
      {"line", {{5}, "line number"}},
      {"module", {{4}, "file name"}},
      {"name", {{6}, "function name"}},
      {"nfl", {{6, 4, 5}, "name/file/line"}},
      {"pcalls", {{-1 - 0}, "primitive call count"}},
      {"stdname", {{7}, "standard name"}},
      {"time", {{-1 - 2}, "internal time"}},
      {"tottime", {{-1 - 2}, "internal time"}},
  };
  return kWords;
}

template <class T>
int compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

const std::vector<std::string>& python_sort_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> out;
    for (const SortWord& word : sort_words()) out.emplace_back(word.word);
    return out;
  }();
  return kNames;
}

const std::map<std::string, PythonSortKey>& python_sort_keys() {
  // A word is cut from its end until a piece is known already; that piece alone is then given up.
  static const std::map<std::string, PythonSortKey> kKeys = [] {
    std::map<std::string, PythonSortKey> out;
    std::vector<std::string> doubtful;
    for (const SortWord& word : sort_words()) {
      for (std::string piece = word.word; !piece.empty(); piece.pop_back()) {
        if (!out.emplace(piece, word.key).second) {
          doubtful.push_back(piece);
          break;
        }
      }
    }
    for (const std::string& piece : doubtful) out.erase(piece);
    return out;
  }();
  return kKeys;
}

std::vector<std::size_t> sort_python_stats(const PythonStats& stats,
                                           std::span<const std::string> keys) {
  const std::vector<PythonStats::Function>& rows = stats.functions();
  std::vector<int> columns;
  for (const std::string& key : keys) {
    const auto found = python_sort_keys().find(key);
    if (found == python_sort_keys().end()) continue;
    columns.insert(columns.end(), found->second.columns.begin(), found->second.columns.end());
  }
  std::vector<std::string> names;
  if (std::find(columns.begin(), columns.end(), 7) != columns.end()) {
    for (const PythonStats::Function& row : rows) names.push_back(python_standard_name(row.key));
  }
  const auto order = [&](std::size_t a, std::size_t b, int column) {
    const PythonStats::Function& left = rows[a];
    const PythonStats::Function& right = rows[b];
    switch (column) {
      case 0:
        return compare(left.numbers.primitive_calls, right.numbers.primitive_calls);
      case 1:
        return compare(left.numbers.calls, right.numbers.calls);
      case 2:
        return compare(left.numbers.self, right.numbers.self);
      case 3:
        return compare(left.numbers.total, right.numbers.total);
      case 4:
        return compare(left.key.file, right.key.file);
      case 5:
        return compare(left.key.line, right.key.line);
      case 6:
        return compare(left.key.name, right.key.name);
      default:
        return compare(names[a], names[b]);
    }
  };
  std::vector<std::size_t> out(rows.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    for (const int column : columns) {
      const int way = column < 0 ? -order(a, b, -1 - column) : order(a, b, column);
      if (way != 0) return way < 0;
    }
    return false;
  });
  return out;
}

}  // namespace sonde
