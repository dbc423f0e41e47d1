// A libnvidia-ml.so.1 for tests: two GPUs, of which the second one tells little.

#include <cstring>

#include "system/nvml_abi.hpp"

using namespace sonde::nvml;

namespace {
int gpus[2];
bool first(Device device) { return device == &gpus[0]; }
constexpr Status kNotSupported = 3;
}  // namespace

extern "C" {
Status nvmlInit_v2() { return 0; }
Status nvmlShutdown() { return 0; }
Status nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return *device = &gpus[index], 0;
}
Status nvmlDeviceGetName(Device, char* name, unsigned size) {
  return std::strncpy(name, "Fake H200", size - 1), 0;
}
Status nvmlDeviceGetUtilizationRates(Device device, Utilization* use) {
  *use = {87, 31};
  return first(device) ? 0 : kNotSupported;
}
Status nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  *memory = {1000, 400, 600};
  return 0;
}
Status nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatt) {
  return *milliwatt = 512500, first(device) ? 0 : kNotSupported;
}
Status nvmlDeviceGetClockInfo(Device device, Clock clock, unsigned* megahertz) {
  *megahertz = clock == Clock::Memory ? 3201 : 1980;
  return first(device) ? 0 : kNotSupported;
}
Status nvmlDeviceGetTemperature(Device device, Sensor, unsigned* celsius) {
  return *celsius = 44, first(device) ? 0 : kNotSupported;
}
}
