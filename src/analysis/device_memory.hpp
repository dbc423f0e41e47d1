#pragma once

#include <span>
#include <vector>

#include "analysis/memory_curve.hpp"

namespace sonde {

// The memory of a device over time, by one way of counting it.
struct DeviceMemory {
  enum class Count {
    Allocated,  // what the program, or its framework, has handed out
    Reserved,   // what the framework has taken from the device
    InUse,      // of all programs, as the driver tells
  };

  const NamedTrace* named = nullptr;
  Count count = Count::Allocated;
  std::int64_t allocations = 0;  // how many; of Allocated only
  std::int64_t failed = 0;       // that found no memory
  MemoryCurve curve;             // its label is the device's: "GPU 0: NVIDIA H200", "CPU"
};

// Trace by trace, device by device; those that nothing is known of are left out.
std::vector<DeviceMemory> device_memory(std::span<const NamedTrace> traces);

}  // namespace sonde
