#include "import/profile/call_profile_builder.hpp"

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

}  // namespace sonde
