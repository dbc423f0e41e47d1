#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/framework_ops.hpp"
#include "analysis/step_parts.hpp"

namespace sonde {

// What an operator of the input pipeline does.
enum class InputCategory : std::uint8_t {
  Enqueue,
  DemandedFileRead,
  AdvancedFileRead,
  Preprocessing,
};
std::string_view input_category_name(InputCategory category);

struct InputOp {
  std::string_view name;
  std::uint64_t count = 0;
  Picos total = 0;
  Picos self = 0;
  InputCategory category = InputCategory::Preprocessing;
};

// Operators that load and prepare input on the host, by self time, greatest first.
std::vector<InputOp> input_ops(const FrameworkOps& ops);

// How much a part of the step holds it up.
enum class Bottleneck : std::uint8_t { None, Moderate, High };

// Verdicts in percent of the step time: input and output 5 and 20, all others 3 and 15.
Bottleneck judge(StepPart part, double percent);
// Sentences about the parts that hold up the step, input first.
std::vector<std::string> step_verdicts(const StepParts& steps);

}  // namespace sonde
