#include "analysis/advice.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "analysis/advice_rules.hpp"

namespace sonde {
namespace {

using Rule = advice::MaybeAdvice (*)(const AdviceInput&);

constexpr std::array<Rule, 9> kRules = {
    advice::data_loading,          advice::low_utilization,
    advice::short_kernels,         advice::host_waits,
    advice::pageable_copies,       advice::copies_in_the_way,
    advice::exposed_communication, advice::low_occupancy,
    advice::unused_tensor_cores,
};

void order(std::vector<Advice>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Advice& a, const Advice& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.share > b.share;
  });
}

}  // namespace

std::string_view advice_weight_name(AdviceWeight weight) {
  switch (weight) {
    case AdviceWeight::High:
      return "high";
    case AdviceWeight::Medium:
      return "medium";
    case AdviceWeight::Low:
      break;
  }
  return "low";
}

std::vector<Advice> give_advice(const AdviceInput& input) {
  std::vector<Advice> out;
  for (const Rule rule : kRules) {
    if (advice::MaybeAdvice found = rule(input)) out.push_back(std::move(*found));
  }
  order(out);
  return out;
}

std::vector<Advice> merge_advice(const std::vector<std::vector<Advice>>& by_rank,
                                 const std::vector<std::string>& names) {
  std::vector<Advice> out;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    for (const Advice& one : by_rank[i]) {
      const auto at = std::find_if(out.begin(), out.end(),
                                   [&](const Advice& other) { return other.id == one.id; });
      if (at == out.end()) {
        out.push_back(one);
        out.back().subjects = {names[i]};
        continue;
      }
      std::vector<std::string> subjects = std::move(at->subjects);
      if (one.share > at->share) {
        *at = one;
        // The rank that the numbers are of stands first.
        subjects.insert(subjects.begin(), names[i]);
      } else {
        subjects.push_back(names[i]);
      }
      at->subjects = std::move(subjects);
    }
  }
  order(out);
  return out;
}

}  // namespace sonde
