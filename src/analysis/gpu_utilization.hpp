#pragma once

#include <cstdint>
#include <vector>

#include "analysis/intervals.hpp"

namespace sonde {

// What becomes of kernels that do not tell their device.
enum class Unplaced : std::uint8_t { LeftOut, OnTheirTracks };

struct GpuUtilization {
  std::int32_t device = 0;
  double utilization = 0;    // share of the window in which a kernel ran, 0 … 1
  double sm_efficiency = 0;  // estimate, 0 … 1; 0 where the file does not tell blocks per SM
  double occupancy = 0;      // estimate, per cent; 0 where the file does not tell
};

// One entry per device that ran kernels, ascending. `window` is that of the steps; SM efficiency
// and occupancy look at all kernels, as the TensorBoard plugin does.
std::vector<GpuUtilization> gpu_utilization(const Trace& trace, const Interval& window,
                                            Unplaced unplaced = Unplaced::LeftOut);

// How busy a device was over time, in equal buckets.
struct UtilizationSeries {
  std::int32_t device = 0;
  Nanos start = 0;
  Nanos bucket = 0;
  std::vector<double> share;  // 0 … 1 per bucket
};

// One series per device that ran kernels in the window. The bucket is the smallest power of ten
// microseconds of which at most 100 fit into the window; a part bucket at the end is left out.
std::vector<UtilizationSeries> utilization_series(const Trace& trace, const Interval& window);

}  // namespace sonde
