#include "analysis/call_sums.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace sonde {
namespace {

CallSums from_profile(const Trace& trace) {
  const CallProfile& profile = trace.call_profile();
  CallSums sums;
  for (const CostType& type : profile.types) {
    sums.types.push_back({std::string(trace.text(type.name)), std::string(trace.text(type.unit))});
  }
  for (const CallProfile::Function& f : profile.functions) {
    sums.functions.push_back({trace.text(f.name), trace.text(f.file), trace.text(f.module), f.line,
                              f.calls, f.primitive_calls});
  }
  sums.function_self = profile.function_self;
  sums.function_total = profile.function_total;
  for (const CallProfile::Call& call : profile.calls) {
    sums.calls.push_back(
        {call.caller.value, call.callee.value, call.line, call.calls, call.primitive_calls});
  }
  sums.call_self = profile.call_self;
  sums.call_total = profile.call_total;
  // Lines that include what they called do not add up to what functions cost by themselves.
  const bool lines_fit = profile.line_self_known || !profile.self_known;
  std::vector<std::size_t> order(lines_fit ? profile.lines.size() : 0);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return profile.lines[a].function < profile.lines[b].function;
  });
  for (const std::size_t i : order) {
    const CallProfile::Line& line = profile.lines[i];
    if (line.function.index() >= profile.functions.size()) continue;
    sums.lines.push_back({line.function.value, trace.text(line.file), line.line});
    for (std::size_t t = 0; t < sums.types.size(); ++t) {
      const std::size_t at = i * sums.types.size() + t;
      sums.line_self.push_back(at < profile.line_self.size() ? profile.line_self[at] : 0);
    }
  }
  sums.sampled = profile.sampled;
  return sums;
}

// Sums over a tree. A function that is on the path already counts its total once.
class TreeSums {
 public:
  explicit TreeSums(CallTree& tree) : tree_(tree) {
    sums_.types = {tree.types()[tree.main_type]};
    sums_.sampled = tree.source == CallTree::Source::Samples;
    totals_ = tree.totals(tree.main_type);
    count_totals();
    find_functions();
  }

  CallSums build() {
    const std::vector<CallTree::Node>& nodes = tree_.nodes();
    std::vector<std::vector<std::uint32_t>> children(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) children[nodes[i].parent].push_back(i);
    std::vector<std::uint32_t> open_functions(sums_.functions.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> open_calls;
    struct Open {
      std::uint32_t node;
      std::uint32_t call;
      std::size_t next = 0;
    };
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<Open> path{{0, kNone, 0}};
    while (!path.empty()) {
      Open& open = path.back();
      if (open.next < children[open.node].size()) {
        const std::uint32_t node = children[open.node][open.next++];
        const std::uint32_t caller = open.node == 0 ? kNone : function_of_[nodes[open.node].frame];
        const std::uint32_t function = function_of_[nodes[node].frame];
        add_function(node, function, open_functions[function]++ == 0);
        std::uint32_t call = kNone;
        if (caller != kNone) {
          call = call_between(caller, function);
          add_call(node, call, open_calls[{caller, function}]++ == 0);
        }
        path.push_back({node, call, 0});
        continue;
      }
      if (open.node != 0) {
        const std::uint32_t function = function_of_[nodes[open.node].frame];
        --open_functions[function];
        if (open.call != kNone)
          --open_calls[{sums_.calls[open.call].caller, sums_.calls[open.call].callee}];
      }
      path.pop_back();
    }
    finish_lines();
    return std::move(sums_);
  }

 private:
  static std::int64_t whole(double value) { return std::llround(value); }

  void count_totals() {
    const std::vector<CallTree::Node>& nodes = tree_.nodes();
    counts_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) counts_[i] = nodes[i].count;
    if (!sums_.sampled) return;
    for (std::size_t i = nodes.size(); i-- > 1;) counts_[nodes[i].parent] += counts_[i];
  }

  // Frames of one name and file are one function, whatever line they were at: it is called by the
  // first.
  void find_functions() {
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> known;
    for (const CallFrame& frame : tree_.frames()) {
      const auto [at, fresh] = known.try_emplace(
          {frame.name, frame.file}, static_cast<std::uint32_t>(sums_.functions.size()));
      if (fresh) sums_.functions.push_back({frame.name, frame.file, {}, frame.line, 0, 0});
      std::int32_t& line = sums_.functions[at->second].line;
      if (frame.line > 0 && (line == 0 || frame.line < line)) line = frame.line;
      function_of_.push_back(at->second);
    }
    sums_.function_self.resize(sums_.functions.size());
    sums_.function_total.resize(sums_.functions.size());
  }

  void add_function(std::uint32_t node, std::uint32_t function, bool outermost) {
    CallSums::Function& row = sums_.functions[function];
    const double self = tree_.self(node, tree_.main_type);
    sums_.function_self[function] += whole(self);
    if (!sums_.sampled || outermost) row.calls += counts_[node];
    if (outermost) {
      row.primitive_calls += counts_[node];
      sums_.function_total[function] += whole(totals_[node]);
    }
    lines_[{function, tree_.frame_of(node).line}] += whole(self);
  }

  std::uint32_t call_between(std::uint32_t caller, std::uint32_t callee) {
    const auto [at, fresh] =
        call_ids_.try_emplace({caller, callee}, static_cast<std::uint32_t>(sums_.calls.size()));
    if (fresh) {
      sums_.calls.push_back({caller, callee, sums_.functions[caller].line, 0, 0});
      sums_.call_self.push_back(0);
      sums_.call_total.push_back(0);
    }
    return at->second;
  }

  void add_call(std::uint32_t node, std::uint32_t call, bool outermost) {
    if (!sums_.sampled || outermost) sums_.calls[call].calls += counts_[node];
    sums_.call_self[call] += whole(tree_.self(node, tree_.main_type));
    if (!outermost) return;
    sums_.calls[call].primitive_calls += counts_[node];
    sums_.call_total[call] += whole(totals_[node]);
  }

  void finish_lines() {
    for (const auto& [key, self] : lines_) {
      sums_.lines.push_back({key.first, sums_.functions[key.first].file, key.second});
      sums_.line_self.push_back(self);
    }
  }

  CallTree& tree_;
  CallSums sums_;
  std::vector<double> totals_;
  std::vector<std::int64_t> counts_;
  std::vector<std::uint32_t> function_of_;  // by frame
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> call_ids_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::int64_t> lines_;
};

}  // namespace

Result<CallSums> sum_calls(const Trace& trace, const std::string& weight) {
  // Exact sums before estimates, unless they lack what a graph of calls is made of.
  const CallProfile& profile = trace.call_profile();
  const bool sums_tell = profile.self_known || trace.samples().empty();
  if (!profile.empty() && !profile.types.empty() && sums_tell &&
      (weight.empty() || weight == "time" || weight == "calls"))
    return from_profile(trace);
  Result<std::vector<CallTree>> trees = build_call_trees(trace, {weight, false});
  if (!trees) return trees.error();
  CallSums sums = TreeSums(trees->front()).build();
  sums.trees = std::move(*trees);
  return sums;
}

}  // namespace sonde
