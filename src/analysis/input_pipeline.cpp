#include "analysis/input_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

InputCategory categorize(const FrameworkOp& op) {
  if (op.type.find("InfeedEnqueue") != std::string_view::npos) return InputCategory::Enqueue;
  for (const std::string_view reader :
       {"::TFRecord", "::TextLine", "::FixedLengthRecord", "::SSTable", "::RecordIO"}) {
    if (!op.name.ends_with(reader)) continue;
    for (const std::string_view ahead :
         {"::MemoryReader", "::MemoryWriter", "::Interleave", "::Prefetch", "::ParallelMap"}) {
      if (op.name.find(ahead) != std::string_view::npos) return InputCategory::AdvancedFileRead;
    }
    return InputCategory::DemandedFileRead;
  }
  return InputCategory::Preprocessing;
}

double percent_of(const StepParts& steps, StepPart part) {
  const Nanos total = steps.total();
  return total > 0 ? 100 * static_cast<double>(steps.sum(part)) / static_cast<double>(total) : 0;
}

}  // namespace

std::string_view input_category_name(InputCategory category) {
  switch (category) {
    case InputCategory::Enqueue:
      return "Enqueue";
    case InputCategory::DemandedFileRead:
      return "Demanded file read";
    case InputCategory::AdvancedFileRead:
      return "Advanced file read";
    case InputCategory::Preprocessing:
      break;
  }
  return "Preprocessing";
}

std::vector<InputOp> input_ops(const FrameworkOps& ops) {
  std::vector<InputOp> out;
  for (const FrameworkOp& op : ops.ops) {
    const bool input = !op.on_device && (op.type == "Dataset" ||
                                         op.type.find("InfeedEnqueue") != std::string_view::npos ||
                                         op.name.starts_with("enumerate(Data"));
    if (input) out.push_back({op.name, op.occurrences, op.total, op.self, categorize(op)});
  }
  return out;
}

Bottleneck judge(StepPart part, double percent) {
  const bool transfer = part == StepPart::Input || part == StepPart::Output;
  if (percent >= (transfer ? 20 : 15)) return Bottleneck::High;
  return percent >= (transfer ? 5 : 3) ? Bottleneck::Moderate : Bottleneck::None;
}

std::vector<std::string> step_verdicts(const StepParts& steps) {
  std::vector<std::string> out;
  if (steps.steps.empty()) return out;
  const double input = percent_of(steps, StepPart::Input);
  switch (judge(StepPart::Input, input)) {
    case Bottleneck::High:
      out.push_back(fmt::format(
          "The program is highly input-bound: {:.1f}% of the step time goes to waiting for input "
          "and moving it. Make the input faster first.",
          input));
      break;
    case Bottleneck::Moderate:
      out.push_back(fmt::format(
          "The program is moderately input-bound: {:.1f}% of the step time goes to waiting for "
          "input and moving it.",
          input));
      break;
    case Bottleneck::None:
      out.push_back(fmt::format(
          "The program is not input-bound: {:.1f}% of the step time goes to waiting for input and "
          "moving it.",
          input));
  }
  struct Subject {
    StepPart part;
    std::string_view what;
  };
  for (const Subject& subject :
       {Subject{StepPart::Output, "moving results to the host"},
        Subject{StepPart::KernelLaunch, "launching kernels"},
        Subject{StepPart::DeviceCollectives, "communication between devices"},
        Subject{StepPart::Other, "anything else, such as Python"}}) {
    const double percent = percent_of(steps, subject.part);
    if (judge(subject.part, percent) == Bottleneck::None) continue;
    out.push_back(fmt::format("{:.1f}% of the step time goes to {}.", percent, subject.what));
  }
  return out;
}

}  // namespace sonde
