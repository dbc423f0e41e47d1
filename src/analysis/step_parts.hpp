#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "trace/trace.hpp"

namespace sonde {

// What the time of a step goes to, as XProf divides it.
enum class StepPart : std::uint8_t {
  DeviceCompute,
  DeviceToDevice,
  DeviceCollectives,
  HostCompute,
  KernelLaunch,
  Input,  // waiting for input, and moving it to the device
  Output,
  Compile,
  Other,
};
inline constexpr std::size_t kStepPartCount = static_cast<std::size_t>(StepPart::Other) + 1;
using StepPartTimes = std::array<Nanos, kStepPartCount>;

struct PartedStep {
  std::string name;
  Interval span;
  StepPartTimes parts{};     // sum to the span's length
  Nanos compute_16_bit = 0;  // of DeviceCompute
  Nanos wait_for_input = 0;  // of Input
  Nanos host_to_device = 0;  // of Input
};

struct StepParts {
  std::vector<PartedStep> steps;
  bool on_device = false;    // whether the steps are those of a device
  std::size_t left_out = 0;  // marked steps in which nothing was computed

  double average(StepPart part) const;
  double deviation(StepPart part) const;  // of the sample
  double average_total() const;
  double deviation_total() const;
  Nanos sum(StepPart part) const;
  Nanos total() const;
};

// The steps of a trace and what each moment of them went to. A step has the work that was done in
// it or for it, on any thread or device. Where there is device work, a step lasts from its first to
// its last device work; else as long as its mark.
StepParts step_parts(const Trace& trace);

// The step (index among the marked ones, -1 for none) that each slice belongs to. With `handed_on`
// (a list for each step), what XLA's thread pool was handed belongs to no step; the moments at
// which a step's work was taken by the pool are put there instead.
std::vector<std::int32_t> step_of_slices(const Trace& trace, const std::vector<SliceId>& steps,
                                         std::vector<std::vector<Nanos>>* handed_on = nullptr);

}  // namespace sonde
