#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/intervals.hpp"
#include "analysis/op_tree.hpp"

namespace sonde {

// What a moment of a step is spent on. Where several go on at once, the first in this order
// counts.
enum class StepRole : std::uint8_t {
  Kernel,
  Memcpy,
  Memset,
  Communication,
  Runtime,
  DataLoader,
  CpuOp,
  Other,
};

inline constexpr std::size_t kStepRoleCount = static_cast<std::size_t>(StepRole::Other) + 1;

inline constexpr std::array<StepRole, kStepRoleCount> kStepRoles = {
    StepRole::Kernel,  StepRole::Memcpy,     StepRole::Memset, StepRole::Communication,
    StepRole::Runtime, StepRole::DataLoader, StepRole::CpuOp,  StepRole::Other,
};

// One T for each role.
template <class T>
class ByRole {
 public:
  T& operator[](StepRole role) { return values_[static_cast<std::size_t>(role)]; }
  const T& operator[](StepRole role) const { return values_[static_cast<std::size_t>(role)]; }

  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::array<T, kStepRoleCount> values_{};
};

struct Step {
  std::string name;             // the step number, as text
  Interval recorded;            // as in the file
  Interval span;                // moved so that it holds the device work that it launched
  ByRole<Nanos> cost;           // exclusive: each moment of the span counts once
  std::size_t device_work = 0;  // kernels, copies and memsets launched in it

  // Not exclusive: computation and communication at the same time count in both.
  Nanos computation = 0;
  Nanos communication = 0;
  Nanos overlap = 0;

  Nanos total() const { return span.length(); }
};

struct StepBreakdown {
  std::vector<Step> steps;  // in file order
  ByRole<Nanos> sum;        // over all steps
  Nanos total = 0;          // sum of the steps' lengths
  ByRole<double> average;   // nanoseconds per step
  double average_total = 0;
  ByRole<Intervals> ranges;  // where each role goes on, whatever else does; Other is empty
  bool has_steps = false;    // false: the one step is the whole recording
  bool has_device = false;   // any runtime call, kernel, copy or memset
  std::size_t dropped = 0;   // trailing steps whose device work the recording cut off

  // Microseconds per step; 0 without steps. Not average / 1000, since the peers divide whole
  // microseconds and the last digit depends on it.
  double average_us(StepRole role) const { return per_step_us(sum[role]); }
  double average_total_us() const { return per_step_us(total); }
  // From the first step's start to the last one's end.
  Interval window() const;

 private:
  double per_step_us(Nanos value) const {
    if (steps.empty()) return 0;
    return static_cast<double>(value) / 1000 / static_cast<double>(steps.size());
  }
};

// What a collective's range on the host (gloo:all_reduce) is. The plugin of 2021 took it for any
// other operator; to a reader who waits for it, it is communication.
enum class HostCollectives : std::uint8_t { AreCommunication, AreOperators };

StepBreakdown break_down_steps(const Trace& trace, const OpTree& tree,
                               HostCollectives collectives = HostCollectives::AreCommunication);

// Whether a kernel moves data between ranks, as far as its own name and arguments tell.
bool is_communication_kernel(const Trace& trace, SliceId kernel);

}  // namespace sonde
