#pragma once

#include <cstdint>
#include <vector>

#include "analysis/gpu_utilization.hpp"
#include "analysis/steps.hpp"

namespace sonde {

enum class TensorboardRule : std::uint8_t {
  DataLoading,      // more than 5 % of the step time goes to data loading
  LowUtilization,   // GPUs that ran kernels for less than half of the time
  LowSmEfficiency,  // GPUs whose SM efficiency is below 80 % of their utilisation
  LowOccupancy,     // GPUs whose achieved occupancy is below 50 %
};

struct TensorboardAdvice {
  TensorboardRule rule = TensorboardRule::DataLoading;
  double value = 0;                   // what the rule looked at; of the first GPU where of GPUs
  std::vector<std::int32_t> devices;  // the GPUs that the rule fired for
};

// The rules that fired, in the order above.
std::vector<TensorboardAdvice> tensorboard_advice(const StepBreakdown& steps,
                                                  const std::vector<GpuUtilization>& gpus);

}  // namespace sonde
