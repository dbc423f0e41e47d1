#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/intervals.hpp"
#include "trace/trace.hpp"

namespace sonde {

struct StreamStats {
  std::int64_t stream = 0;
  std::uint64_t slices = 0;
  Nanos busy = 0;
};

// What one accelerator did. Sums count work that ran at the same time twice; busy times are unions.
struct DeviceStats {
  std::int32_t id = -1;
  std::optional<Device> properties;  // as far as the file tells
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;
  std::uint64_t memsets = 0;
  Nanos kernel_time = 0;
  Nanos copy_time = 0;
  Nanos memset_time = 0;
  Nanos busy = 0;                    // any work
  Nanos kernel_busy = 0;             // any kernel
  Nanos step_kernel_busy = 0;        // any kernel, within the window of the steps
  std::vector<StreamStats> streams;  // ascending
};

// What the host threads did.
struct ThreadStats {
  TrackId track;
  std::uint64_t operators = 0;
  Nanos operator_time = 0;  // union: nested operators count once
  std::uint64_t runtime_calls = 0;
  Nanos runtime_time = 0;
};

struct DeviceUse {
  std::vector<DeviceStats> devices;  // that ran any work; ascending
  std::vector<ThreadStats> threads;  // with operators or runtime calls, in the order of the tracks
};

// What the utilisation of a GPU is made of, over all processes: the time in which a kernel ran,
// over the time in which a step did.
struct GpuTimes {
  Nanos kernels = 0;
  Nanos steps = 0;  // of the process that spent most on steps; 0 where there are none
};
using GpuTimesById = std::map<std::int32_t, GpuTimes>;

void add_gpu_times(const Trace& trace, const DeviceUse& use, GpuTimesById& out);

// `steps` is the window from the first step to the last.
DeviceUse device_use(const Trace& trace, const Interval& steps);

}  // namespace sonde
