#include "analysis/call_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

constexpr double kLeastShare = 1e-4;
constexpr std::size_t kMostNodes = 200'000;

class Estimate {
 public:
  Estimate(const Trace& trace, std::size_t type)
      : trace_(trace), profile_(trace.call_profile()), type_(type), tree_(make_tree()) {
    by_caller_.resize(profile_.functions.size());
    called_.resize(profile_.functions.size());
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
      const CallProfile::Call& call = profile_.calls[i];
      if (call.caller.index() >= by_caller_.size() || call.callee.index() >= by_caller_.size())
        continue;
      by_caller_[call.caller.index()].push_back(i);
      if (call.caller != call.callee) called_[call.callee.index()] = true;
    }
  }

  CallTree build() {
    double most = 0;
    for (std::size_t f = 0; f < profile_.functions.size(); ++f)
      most = std::max(most, value(profile_.function_total, f));
    least_ = most * kLeastShare;
    on_path_.resize(profile_.functions.size());
    bool any = false;
    for (std::size_t f = 0; f < profile_.functions.size(); ++f) {
      if (called_[f]) continue;
      any = true;
      grow(f, value(profile_.function_total, f), 1);
    }
    // All call each other: the one with the most is the best guess at the first.
    if (!any && !profile_.functions.empty()) {
      std::size_t first = 0;
      for (std::size_t f = 1; f < profile_.functions.size(); ++f) {
        if (value(profile_.function_total, f) > value(profile_.function_total, first)) first = f;
      }
      grow(first, value(profile_.function_total, first), 1);
    }
    return std::move(tree_);
  }

 private:
  struct Open {
    std::size_t function;
    std::uint32_t node;
    double share;  // of the function's total that belongs to this path
    std::size_t next = 0;
  };

  CallTree make_tree() const {
    const CostType& cost = profile_.types[type_];
    CallTree tree(std::vector<CallValueType>{
        {std::string(trace_.text(cost.name)), std::string(trace_.text(cost.unit))}});
    tree.source = CallTree::Source::CallProfile;
    tree.estimated = true;
    return tree;
  }

  double value(const std::vector<std::int64_t>& costs, std::size_t row) const {
    const std::size_t at = row * profile_.types.size() + type_;
    return at < costs.size() ? static_cast<double>(std::max<std::int64_t>(costs[at], 0)) : 0;
  }

  Open enter(std::size_t function, std::uint32_t parent, double share, double calls) {
    const CallProfile::Function& row = profile_.functions[function];
    const std::uint32_t node =
        tree_.child(parent, tree_.frame(trace_.text(row.name), trace_.text(row.file), row.line));
    tree_.add(node, 0, value(profile_.function_self, function) * share);
    tree_.count(node, std::llround(calls));
    on_path_[function] = true;
    return {function, node, share, 0};
  }

  void grow(std::size_t root, double total, double share) {
    if (total <= 0 && value(profile_.function_self, root) <= 0) return;
    std::vector<Open> path;
    path.push_back(enter(root, 0, share, static_cast<double>(profile_.functions[root].calls)));
    while (!path.empty()) {
      Open& open = path.back();
      const std::vector<std::size_t>& calls = by_caller_[open.function];
      if (open.next == calls.size()) {
        on_path_[open.function] = false;
        path.pop_back();
        continue;
      }
      const std::size_t call = calls[open.next++];
      const std::size_t callee = profile_.calls[call].callee.index();
      const double cost = value(profile_.call_total, call) * open.share;
      const double whole = value(profile_.function_total, callee);
      if (on_path_[callee] || cost <= least_ || whole <= 0 || tree_.nodes().size() >= kMostNodes)
        continue;
      const double calls_here = static_cast<double>(profile_.calls[call].calls) * open.share;
      path.push_back(enter(callee, open.node, std::min(cost / whole, open.share), calls_here));
    }
  }

  const Trace& trace_;
  const CallProfile& profile_;
  std::size_t type_;
  CallTree tree_;
  std::vector<std::vector<std::size_t>> by_caller_;
  std::vector<bool> called_;
  std::vector<bool> on_path_;
  double least_ = 0;
};

}  // namespace

CallTree estimate_call_tree(const Trace& trace, std::size_t type) {
  return Estimate(trace, type).build();
}

}  // namespace sonde
