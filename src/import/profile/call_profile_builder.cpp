#include "import/profile/call_profile_builder.hpp"

#include <algorithm>

#include "import/profile/call_cycles.hpp"
#include "import/text/numbers.hpp"

namespace sonde {

FunctionId CallProfileBuilder::function(StringId name, StringId file, StringId module,
                                        std::int32_t line) {
  const auto next = FunctionId(profile_.functions.size());
  const auto [at, inserted] = functions_.try_emplace({name, file, module, line}, next);
  if (inserted) {
    profile_.functions.push_back({name, file, module, line, 0, 0});
    profile_.function_self.resize(profile_.function_self.size() + types_);
    profile_.function_total.resize(profile_.function_total.size() + types_);
  }
  return at->second;
}

std::uint32_t CallProfileBuilder::call(FunctionId caller, FunctionId callee, std::int32_t line) {
  const auto next = static_cast<std::uint32_t>(profile_.calls.size());
  const auto [at, inserted] = calls_.try_emplace({caller, callee, line}, next);
  if (inserted) {
    profile_.calls.push_back({caller, callee, line, 0, 0});
    profile_.call_self.resize(profile_.call_self.size() + types_);
    profile_.call_total.resize(profile_.call_total.size() + types_);
  }
  return at->second;
}

std::uint32_t CallProfileBuilder::line(FunctionId function, StringId file, std::int32_t line) {
  const auto next = static_cast<std::uint32_t>(profile_.lines.size());
  const auto [at, inserted] = lines_.try_emplace({function, file, line}, next);
  if (inserted) {
    profile_.lines.push_back({function, file, line, 0});
    profile_.line_self.resize(profile_.line_self.size() + types_);
  }
  return at->second;
}

void CallProfileBuilder::add(std::vector<std::int64_t>& list, std::size_t row,
                             std::span<const std::int64_t> costs) {
  for (std::size_t i = 0; i < costs.size() && i < types_; ++i) {
    std::int64_t& cost = list[row * types_ + i];
    cost = add_costs(cost, costs[i]);
  }
}

void CallProfileBuilder::sum_totals() {
  const std::vector<std::uint32_t> cycle = call_cycles(profile_);
  std::vector<bool> called(profile_.functions.size());
  for (const CallProfile::Call& call : profile_.calls) {
    if (call.caller != call.callee) called[call.callee.index()] = true;
  }
  for (std::size_t i = 0; i < profile_.functions.size(); ++i) {
    if (!called[i]) add(profile_.function_total, i, {&profile_.function_self[i * types_], types_});
  }
  std::vector<std::int64_t> within(profile_.function_total.size());
  for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
    const CallProfile::Call& call = profile_.calls[i];
    if (call.caller == call.callee) continue;
    const std::span<const std::int64_t> costs{&profile_.call_total[i * types_], types_};
    if (!called[call.caller.index()]) {
      add(profile_.function_total, call.caller.index(), costs);
    }
    const std::size_t callee = call.callee.index();
    if (cycle[call.caller.index()] != cycle[callee]) {
      add(profile_.function_total, callee, costs);
      continue;
    }
    for (std::size_t t = 0; t < types_; ++t) {
      within[callee * types_ + t] = std::max(within[callee * types_ + t], costs[t]);
    }
  }
  profile_.callee_self_known = false;
  for (std::size_t i = 0; i < profile_.function_self.size(); ++i) {
    profile_.function_total[i] =
        std::max({profile_.function_total[i], profile_.function_self[i], within[i]});
  }
}

}  // namespace sonde
