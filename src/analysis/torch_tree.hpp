#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/torch_events.hpp"

namespace sonde {

// Finds the parent of each host event among those of its thread; `events` in PyTorch's order.
void nest_torch_events(std::vector<TorchEvent>& events);

// An event that is the only child of one with the same name disappears; the parent takes over its
// children and its device work. Chains fold into one.
void fold_torch_duplicates(std::vector<TorchEvent>& events);

// The numbers of one event, in microseconds and bytes.
struct TorchNumbers {
  double cpu = 0;
  double self_cpu = 0;
  double device = 0;
  double self_device = 0;
  std::int64_t cpu_bytes = 0;
  std::int64_t self_cpu_bytes = 0;
  std::int64_t device_bytes = 0;
  std::int64_t self_device_bytes = 0;
};

// Totals and own parts over the tree of `events`, which must outlive this.
class TorchTotals {
 public:
  // Without a device in use all device times are 0.
  TorchTotals(const std::vector<TorchEvent>& events, bool device_used);

  TorchNumbers numbers(std::size_t event) const;

 private:
  const std::vector<TorchEvent>& events_;
  bool device_used_;
  std::vector<std::uint32_t> first_child_;  // in children_; one more than events
  std::vector<std::uint32_t> children_;     // of each event, in order
  std::vector<double> device_;              // total device time
};

}  // namespace sonde
