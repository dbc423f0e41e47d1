#include "analysis/tensorboard_advice.hpp"

namespace sonde {
namespace {

// One advice for all GPUs of which `fires` is true, none where there is no such GPU.
template <class Fires, class Value>
void advise(std::vector<TensorboardAdvice>& out, TensorboardRule rule,
            const std::vector<GpuUtilization>& gpus, Fires fires, Value value) {
  TensorboardAdvice advice;
  advice.rule = rule;
  for (const GpuUtilization& gpu : gpus) {
    if (!fires(gpu)) continue;
    if (advice.devices.empty()) advice.value = value(gpu);
    advice.devices.push_back(gpu.device);
  }
  if (!advice.devices.empty()) out.push_back(std::move(advice));
}

}  // namespace

std::vector<TensorboardAdvice> tensorboard_advice(const StepBreakdown& steps,
                                                  const std::vector<GpuUtilization>& gpus) {
  std::vector<TensorboardAdvice> out;
  if (steps.total > 0) {
    const double share = steps.average_us(StepRole::DataLoader) / steps.average_total_us();
    if (share > 0.05) out.push_back({TensorboardRule::DataLoading, share, {}});
  }
  advise(
      out, TensorboardRule::LowUtilization, gpus,
      [](const GpuUtilization& gpu) { return gpu.utilization < 0.5; },
      [](const GpuUtilization& gpu) { return gpu.utilization; });
  advise(
      out, TensorboardRule::LowSmEfficiency, gpus,
      [](const GpuUtilization& gpu) {
        return gpu.sm_efficiency > 0 && gpu.sm_efficiency < 0.8 * gpu.utilization;
      },
      [](const GpuUtilization& gpu) { return gpu.sm_efficiency; });
  advise(
      out, TensorboardRule::LowOccupancy, gpus,
      [](const GpuUtilization& gpu) { return gpu.occupancy > 0 && gpu.occupancy < 50; },
      [](const GpuUtilization& gpu) { return gpu.occupancy; });
  return out;
}

}  // namespace sonde
