#pragma once

#include <cstdint>

#include "trace/cupti_file.hpp"

namespace sonde::cupti {

// How a kernel was launched.
struct LaunchShape {
  std::int64_t blocks = 0;             // of the whole grid
  std::int64_t threads_per_block = 0;  // 1 … 1024 on all devices so far
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  // static and dynamic, of one block
};

struct Occupancy {
  float blocks_per_sm = -1;
  float warps_per_sm = -1;
  // How many blocks fit on a multiprocessor, -1 where the device's limits are not known; and the
  // part of its threads that they, or the whole grid where that is smaller, make up.
  std::int64_t active_blocks = -1;
  float percent = -1;
  // The same as PyTorch's profiler counts it: a block that uses more shared memory than every
  // kernel may use without asking (48 KiB) fits 0 times.
  float kineto_percent = -1;
};

Occupancy find_occupancy(const DeviceFacts& device, const LaunchShape& launch);

}  // namespace sonde::cupti
