#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/gpu_utilization.hpp"
#include "analysis/op_tree.hpp"
#include "analysis/steps.hpp"

namespace sonde {

enum class AdviceWeight : std::uint8_t { Low, Medium, High };

std::string_view advice_weight_name(AdviceWeight weight);

// Something worth changing in the program, with the numbers that it follows from.
struct Advice {
  std::string id;  // snake_case, stable: scripts read it
  AdviceWeight weight = AdviceWeight::Low;
  double share = 0;      // of the time that it concerns, 0 … 1: what weight and order come from
  std::string headline;  // one sentence, with the number
  std::string why;       // what was measured
  std::string action;    // what to do about it
  std::vector<std::pair<std::string, double>> measures;  // the numbers, by snake_case name and unit
  std::vector<std::string> subjects;  // the ranks that it applies to; filled by merge_advice()
};

// What the rules look at.
struct AdviceInput {
  const Trace& trace;
  const OpTree& tree;
  const StepBreakdown& steps;
  const std::vector<GpuUtilization>& gpus;
};

// The rules, in the order of the source file. Each gives at most one piece of advice, and none
// where the trace lacks what it needs. Heaviest first; equal ones in the order of the rules.
std::vector<Advice> give_advice(const AdviceInput& input);

// One list from those of several ranks, named by `names`: of equal ids the one with the greatest
// share stays and names the ranks it was found on.
std::vector<Advice> merge_advice(const std::vector<std::vector<Advice>>& by_rank,
                                 const std::vector<std::string>& names);

}  // namespace sonde
