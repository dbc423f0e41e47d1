// A libcuda.so.1 for tests: it starts as the real one does, and tells of one device.

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "capture/cuda/cupti_abi.hpp"

using sonde::capture::cuda::DeviceAttribute;

namespace {
bool ready;
}

extern "C" {

int cuInit(unsigned) {
  if (ready) return 0;
  if (const char* const path = std::getenv("CUDA_INJECTION64_PATH")) {
    if (void* const library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL)) {
      const auto start = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
      if (start) start();
    } else {
      ::fprintf(stderr, "fake driver: %s\n", ::dlerror());
    }
  }
  ready = true;
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  if (void* const library = ::dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD)) {
    const auto now = reinterpret_cast<std::uint64_t (*)()>(::dlsym(library, "fake_now"));
    const auto call =
        reinterpret_cast<void (*)(std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t,
                                  std::uint32_t)>(::dlsym(library, "fake_call"));
    if (now && call) {
      const std::uint64_t start = now();
      call(1, 1, start, now(), 1);
    }
  }
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return ready ? 0 : 3;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  ::snprintf(name, static_cast<std::size_t>(size), "Fake H200");
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{140} << 30;
  return 0;
}
int cuDeviceGetUuid(void* uuid, int) {
  ::memset(uuid, 7, 16);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (static_cast<DeviceAttribute>(attribute)) {
    case DeviceAttribute::ComputeMajor:
      return *value = 9, 0;
    case DeviceAttribute::ComputeMinor:
      return *value = 0, 0;
    case DeviceAttribute::Multiprocessors:
      return *value = 132, 0;
    case DeviceAttribute::WarpSize:
      return *value = 32, 0;
    case DeviceAttribute::MaxThreadsPerBlock:
      return *value = 1024, 0;
    case DeviceAttribute::MaxThreadsPerMultiprocessor:
      return *value = 2048, 0;
    case DeviceAttribute::MaxRegistersPerBlock:
      return *value = 65536, 0;
    case DeviceAttribute::MaxRegistersPerMultiprocessor:
      return *value = 65536, 0;
    case DeviceAttribute::MaxSharedPerBlock:
      return *value = 49152, 0;
    case DeviceAttribute::MaxSharedPerBlockOptin:
      return *value = 232448, 0;
    case DeviceAttribute::MaxSharedPerMultiprocessor:
      return *value = 233472, 0;
    case DeviceAttribute::ReservedSharedPerBlock:
      return *value = 1024, 0;
    case DeviceAttribute::MaxBlocksPerMultiprocessor:
      return *value = 32, 0;
    default:
      return *value = 0, 0;
  }
}

}  // extern "C"
