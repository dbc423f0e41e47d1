#include "analysis/function_profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/function_profile_parts.hpp"

namespace sonde {
namespace {

FunctionProfile counted_profile(const Trace& trace) {
  const CallProfile& from = trace.call_profile();
  FunctionProfile out;
  out.source = ProfileSource::Counted;
  for (const CostType& type : from.types) {
    out.costs.push_back(
        {std::string(trace.text(type.name)), std::string(trace.text(type.unit)), true});
  }
  out.calls_are_samples = from.sampled;
  out.self_known = from.self_known;
  out.line_self_known = from.self_known && from.line_self_known;
  out.call_costs_known = from.call_costs_known;
  out.callee_self_known = from.callee_self_known && from.call_costs_known;
  for (const CallProfile::Function& row : from.functions) {
    out.functions.push_back({trace.text(row.name), trace.text(row.file), trace.text(row.module),
                             row.line, row.calls, row.primitive_calls,
                             trace.text(row.qualified_name)});
  }
  const auto copy = [](const std::vector<std::int64_t>& list) {
    return std::vector<double>(list.begin(), list.end());
  };
  out.self = copy(from.function_self);
  out.total = copy(from.function_total);
  // The places of one call in the source are one call here.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> rows;
  const std::size_t types = from.types.size();
  for (std::size_t i = 0; i < from.calls.size(); ++i) {
    const CallProfile::Call& call = from.calls[i];
    const auto [at, inserted] =
        rows.try_emplace({call.caller.value, call.callee.value}, out.calls.size());
    if (inserted) {
      out.calls.push_back({call.caller.value, call.callee.value, 0});
      out.call_self.resize(out.call_self.size() + types);
      out.call_total.resize(out.call_total.size() + types);
    }
    out.calls[at->second].calls += call.calls;
    for (std::size_t t = 0; t < types; ++t) {
      out.call_self[at->second * types + t] += static_cast<double>(from.call_self[i * types + t]);
      out.call_total[at->second * types + t] += static_cast<double>(from.call_total[i * types + t]);
    }
  }
  for (const CallProfile::Line& line : from.lines) {
    out.lines.push_back({line.function.value, trace.text(line.file), line.line, line.hits});
  }
  out.line_self = copy(from.line_self);
  return out;
}

bool contains(const std::vector<ProfileSource>& list, ProfileSource source) {
  return std::find(list.begin(), list.end(), source) != list.end();
}

bool has_slices_of_functions(const Trace& trace) {
  for (const SliceId slice : all_slices(trace)) {
    const TrackType type = trace.track(trace.slices().track(slice)).type;
    const SliceKind kind = trace.slices().kind(slice);
    if ((type == TrackType::Thread || type == TrackType::Async) && kind != SliceKind::Span &&
        !is_device_work(kind)) {
      return true;
    }
  }
  return false;
}

// The best one first. Exact sums come before samples, unless they do not tell what is asked for.
std::vector<ProfileSource> sources_of(const Trace& trace, ProfileNeed need) {
  std::vector<ProfileSource> out;
  const CallProfile& sums = trace.call_profile();
  if (!sums.empty()) out.push_back(ProfileSource::Counted);
  if (!trace.samples().empty()) {
    const bool better = need == ProfileNeed::Lines ? sums.lines.empty() : !sums.self_known;
    out.insert(better ? out.begin() : out.end(), ProfileSource::Samples);
  }
  if (has_slices_of_functions(trace)) out.push_back(ProfileSource::Slices);
  return out;
}

void sum_whole(FunctionProfile& profile) {
  const std::size_t types = profile.costs.size();
  profile.whole.assign(types, 0);
  for (std::size_t i = 0; i < profile.functions.size(); ++i) {
    for (std::size_t t = 0; t < types; ++t) profile.whole[t] += profile.self_of(i, t);
  }
}

// Adds profiles together.
class Sum {
 public:
  explicit Sum(FunctionProfile& into) : into_(into) {}

  void add(const FunctionProfile& from) {
    if (into_.source == ProfileSource::None) {
      into_.source = from.source;
      into_.calls_are_samples = from.calls_are_samples;
    }
    into_.self_known = into_.self_known && from.self_known;
    into_.line_self_known = into_.line_self_known && from.line_self_known;
    into_.call_costs_known = into_.call_costs_known && from.call_costs_known;
    into_.callee_self_known = into_.callee_self_known && from.callee_self_known;
    std::vector<std::size_t> columns;
    for (const ProfileCost& cost : from.costs) columns.push_back(column(cost));
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < from.functions.size(); ++i) {
      const FunctionProfile::Function& f = from.functions[i];
      const auto row = row_of(functions_, std::tuple(f.name, f.file, f.module, f.line));
      if (row == into_.functions.size()) {
        into_.functions.push_back(f);
        into_.functions.back().calls = into_.functions.back().primitive_calls = 0;
      }
      into_.functions[row].calls += f.calls;
      into_.functions[row].primitive_calls += f.primitive_calls;
      rows.push_back(row);
      add_costs(self_, row, from.self, i, columns);
      add_costs(total_, row, from.total, i, columns);
    }
    for (std::size_t i = 0; i < from.calls.size(); ++i) {
      FunctionProfile::Call call = from.calls[i];
      call.caller = rows[call.caller];
      call.callee = rows[call.callee];
      const auto row = row_of(calls_, std::pair(call.caller, call.callee));
      if (row == into_.calls.size()) into_.calls.push_back({call.caller, call.callee, 0});
      into_.calls[row].calls += call.calls;
      add_costs(call_self_, row, from.call_self, i, columns);
      add_costs(call_total_, row, from.call_total, i, columns);
    }
    for (std::size_t i = 0; i < from.lines.size(); ++i) {
      FunctionProfile::Line line = from.lines[i];
      line.function = rows[line.function];
      const auto row = row_of(lines_, std::tuple(line.function, line.file, line.line));
      if (row == into_.lines.size()) {
        into_.lines.push_back(line);
        into_.lines.back().hits = 0;
      }
      into_.lines[row].hits += line.hits;
      add_costs(line_self_, row, from.line_self, i, columns);
      if (!from.line_total.empty()) add_costs(line_total_, row, from.line_total, i, columns);
    }
  }

  void finish() {
    const auto pack = [&](std::vector<std::vector<double>>& rows) {
      std::vector<double> out;
      for (std::vector<double>& row : rows) {
        row.resize(into_.costs.size());
        out.insert(out.end(), row.begin(), row.end());
      }
      return out;
    };
    into_.self = pack(self_);
    into_.total = pack(total_);
    into_.call_self = pack(call_self_);
    into_.call_total = pack(call_total_);
    into_.line_self = pack(line_self_);
    into_.line_total = pack(line_total_);
  }

 private:
  using Rows = std::vector<std::vector<double>>;

  template <class Key>
  std::uint32_t row_of(std::map<Key, std::uint32_t>& rows, const Key& key) {
    return rows.try_emplace(key, static_cast<std::uint32_t>(rows.size())).first->second;
  }

  std::size_t column(const ProfileCost& cost) {
    for (std::size_t i = 0; i < into_.costs.size(); ++i) {
      if (into_.costs[i].name == cost.name && into_.costs[i].unit == cost.unit) return i;
    }
    into_.costs.push_back(cost);
    return into_.costs.size() - 1;
  }

  static void add_costs(Rows& rows, std::size_t row, const std::vector<double>& from,
                        std::size_t index, const std::vector<std::size_t>& columns) {
    if (rows.size() <= row) rows.resize(row + 1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (rows[row].size() <= columns[i]) rows[row].resize(columns[i] + 1);
      rows[row][columns[i]] += from[index * columns.size() + i];
    }
  }

  FunctionProfile& into_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, std::int32_t>,
           std::uint32_t>
      functions_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> calls_;
  std::map<std::tuple<std::uint32_t, std::string_view, std::int32_t>, std::uint32_t> lines_;
  Rows self_;
  Rows total_;
  Rows call_self_;
  Rows call_total_;
  Rows line_self_;
  Rows line_total_;
};

}  // namespace

FunctionProfile function_profile(const Trace& trace, const ProfileChoice& choice) {
  const std::vector<ProfileSource> sources = sources_of(trace, choice.need);
  FunctionProfile out;
  if (sources.empty()) return out;
  if (choice.source != ProfileSource::None && !contains(sources, choice.source)) return out;
  switch (choice.source == ProfileSource::None ? sources.front() : choice.source) {
    case ProfileSource::None:
      break;
    case ProfileSource::Counted:
      out = counted_profile(trace);
      break;
    case ProfileSource::Samples:
      out = sampled_profile(trace);
      break;
    case ProfileSource::Slices:
      out = slice_profile(trace);
      break;
  }
  sum_whole(out);
  return out;
}

std::vector<ProfileSource> profile_sources(std::span<const NamedTrace> traces, ProfileNeed need) {
  std::vector<ProfileSource> first;
  std::vector<ProfileSource> others;
  for (const NamedTrace& named : traces) {
    const std::vector<ProfileSource> sources = sources_of(named.trace, need);
    if (sources.empty()) continue;
    first.push_back(sources.front());
    others.insert(others.end(), sources.begin(), sources.end());
  }
  std::vector<ProfileSource> out;
  if (first.empty()) return out;
  // The processes of a recorded run belong together: the best that one of them has. Other files
  // were put side by side by hand, the most important one first.
  const bool recorded = std::all_of(traces.begin(), traces.end(), [](const NamedTrace& named) {
    return named.trace.meta().format == "sonde";
  });
  out.push_back(recorded ? *std::min_element(first.begin(), first.end()) : first.front());
  std::sort(others.begin(), others.end());
  for (const ProfileSource source : others) {
    if (!contains(out, source)) out.push_back(source);
  }
  return out;
}

FunctionProfile function_profile(std::span<const NamedTrace> traces, std::size_t* left_out,
                                 const ProfileChoice& choice) {
  if (traces.size() == 1) return function_profile(traces.front().trace, choice);
  FunctionProfile out;
  ProfileChoice one_source = choice;
  if (choice.source == ProfileSource::None) {
    const std::vector<ProfileSource> sources = profile_sources(traces, choice.need);
    if (!sources.empty()) one_source.source = sources.front();
  }
  Sum sum(out);
  for (const NamedTrace& named : traces) {
    const FunctionProfile one = function_profile(named.trace, one_source);
    if (one.source != ProfileSource::None) {
      sum.add(one);
    } else if (left_out != nullptr && !sources_of(named.trace, choice.need).empty()) {
      ++*left_out;
    }
  }
  sum.finish();
  sum_whole(out);
  return out;
}

FunctionProfile with_one_cost(FunctionProfile profile, std::size_t cost) {
  const std::size_t costs = profile.costs.size();
  if (costs < 2 || cost >= costs) return profile;
  for (std::vector<double>* list : {&profile.self, &profile.total, &profile.call_self,
                                    &profile.call_total, &profile.line_self, &profile.line_total}) {
    std::vector<double> kept;
    kept.reserve(list->size() / costs);
    for (std::size_t i = cost; i < list->size(); i += costs) kept.push_back((*list)[i]);
    *list = std::move(kept);
  }
  profile.costs = {profile.costs[cost]};
  profile.whole = {profile.whole[cost]};
  return profile;
}

bool is_function_profile(const Trace& trace) {
  if (trace.meta().format == "sonde") return false;  // its counters tell about a program's run
  const SliceColumns& slices = trace.slices();
  const StringId function = trace.strings().find("function");
  bool functions_only = trace.slice_count() > 0;
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = slices.kind(slice);
    if (is_host_operator(kind) || is_device_work(kind) || kind == SliceKind::Step) return false;
    if (!functions_only) continue;
    const StringId* category = trace.categories().find(slice);
    functions_only = category != nullptr && *category == function;
  }
  if (functions_only || !trace.call_profile().empty()) return true;
  return trace.slice_count() == 0 &&
         (!trace.samples().empty() || !trace.counters().empty() || trace.meta().format == "pstats");
}

}  // namespace sonde
