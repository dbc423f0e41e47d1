#include "import/mxnet/memory.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <tuple>
#include <vector>

namespace sonde {
namespace {

struct MemoryDevice {
  std::int32_t type = -1;
  std::int32_t ordinal = -1;
};

// "Memory: gpu/1" -> CUDA device 1. Pinned and shared memory have no number and no device here.
MemoryDevice memory_device(std::string_view counter) {
  constexpr std::string_view kCpu = "Memory: cpu/";
  constexpr std::string_view kGpu = "Memory: gpu/";
  MemoryDevice device;
  if (!counter.starts_with(kCpu) && !counter.starts_with(kGpu)) return device;
  const std::string_view number = counter.substr(kCpu.size());
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), device.ordinal);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == number.data() + number.size();
  if (whole && device.ordinal >= 0) device.type = counter.starts_with(kGpu) ? 1 : 0;
  return device;
}

}  // namespace

void add_mxnet_allocations(TraceBuilder& builder) {
  std::vector<std::uint32_t> values;
  const std::vector<CounterValue>& counters = builder.counters();
  for (std::uint32_t i = 0; i < counters.size(); ++i) {
    const bool storage = builder.text(builder.track(counters[i].track).process) == "Device Storage";
    if (storage && memory_device(builder.text(counters[i].counter)).type >= 0) values.push_back(i);
  }
  // The file has the order of the threads, not that of time.
  std::sort(values.begin(), values.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(counters[a].counter, counters[a].time, a) <
           std::tuple(counters[b].counter, counters[b].time, b);
  });
  StringId counter;
  std::int64_t before = 0;
  for (const std::uint32_t i : values) {
    const CounterValue& value = counters[i];
    if (value.counter != counter) before = 0;
    counter = value.counter;
    constexpr double kMost = 9e18;
    const std::int64_t total = std::llround(std::clamp(value.value, 0.0, kMost));
    const MemoryDevice device = memory_device(builder.text(value.counter));
    Allocation allocation;
    allocation.time = value.time;
    allocation.bytes = total - before;
    allocation.total_allocated = total;
    allocation.track = value.track;
    allocation.device_type = device.type;
    allocation.device = device.ordinal;
    builder.add_allocation(allocation);
    before = total;
  }
  if (!values.empty()) builder.meta().profile_memory = true;
}

}  // namespace sonde
