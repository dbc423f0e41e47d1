#pragma once

#include <cstdint>

// The part of NVML's binary interface that Sonde uses, in its own words.
// tests/gpu/abi/nvml_abi_check.cpp compares it with NVIDIA's header where that is.

namespace sonde::nvml {

using Status = int;  // 0: success
using Device = void*;

struct Utilization {
  unsigned gpu;     // per cent of the last sample period in which a kernel ran
  unsigned memory;  // … in which memory was read or written
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
enum class Clock : int { Graphics = 0, Multiprocessor = 1, Memory = 2 };
enum class Sensor : int { Gpu = 0 };
inline constexpr unsigned kNameBytes = 96;

struct Functions {
  Status (*nvmlInit_v2)();
  Status (*nvmlShutdown)();
  Status (*nvmlDeviceGetCount_v2)(unsigned*);
  Status (*nvmlDeviceGetHandleByIndex_v2)(unsigned, Device*);
  Status (*nvmlDeviceGetName)(Device, char*, unsigned);
  Status (*nvmlDeviceGetUtilizationRates)(Device, Utilization*);
  Status (*nvmlDeviceGetMemoryInfo)(Device, Memory*);
  Status (*nvmlDeviceGetPowerUsage)(Device, unsigned*);
  Status (*nvmlDeviceGetClockInfo)(Device, Clock, unsigned*);
  Status (*nvmlDeviceGetTemperature)(Device, Sensor, unsigned*);
};

}  // namespace sonde::nvml
