// Compares Sonde's declarations of NVML with NVIDIA's header. Nothing runs: it compiles, or it does
// not.

#include <nvml.h>

#include <cstddef>

#include "system/nvml_abi.hpp"

namespace abi = sonde::nvml;

static_assert(NVML_SUCCESS == 0);
static_assert(sizeof(abi::Utilization) == sizeof(nvmlUtilization_t));
static_assert(offsetof(abi::Utilization, gpu) == offsetof(nvmlUtilization_t, gpu));
static_assert(offsetof(abi::Utilization, memory) == offsetof(nvmlUtilization_t, memory));
static_assert(sizeof(abi::Memory) == sizeof(nvmlMemory_t));
static_assert(offsetof(abi::Memory, total) == offsetof(nvmlMemory_t, total));
static_assert(offsetof(abi::Memory, free) == offsetof(nvmlMemory_t, free));
static_assert(offsetof(abi::Memory, used) == offsetof(nvmlMemory_t, used));
static_assert(static_cast<int>(abi::Clock::Multiprocessor) == NVML_CLOCK_SM);
static_assert(static_cast<int>(abi::Clock::Memory) == NVML_CLOCK_MEM);
static_assert(static_cast<int>(abi::Sensor::Gpu) == NVML_TEMPERATURE_GPU);
static_assert(abi::kNameBytes == NVML_DEVICE_NAME_V2_BUFFER_SIZE);
static_assert(sizeof(abi::Device) == sizeof(nvmlDevice_t));
