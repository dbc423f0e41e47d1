#pragma once

#include <vector>

#include "import/sonde_run/companions.hpp"

namespace sonde::cupti {

// What was allocated through CUDA; records of it do not lie in the order of time.
class DeviceMemory {
 public:
  explicit DeviceMemory(const CompanionContext& context) : context_(context) {}

  void add(const Allocation& allocation) { allocations_.push_back(allocation); }
  // Writes all of it into the trace, with the sums over time.
  void finish();

 private:
  const CompanionContext& context_;
  std::vector<Allocation> allocations_;
};

}  // namespace sonde::cupti
