#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "system/run_file_writer.hpp"

namespace sonde {

// What NVIDIA's management library (NVML) tells of the machine's GPUs: use, memory, power and
// clocks, as counters. Where there is no such library, or no GPU, there is nothing.
class GpuSampler {
 public:
  // Writes the names of the counters: before the writer's first record. `library` is another one
  // for tests.
  explicit GpuSampler(RunFileWriter& writer, const char* library = "libnvidia-ml.so.1");
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  std::size_t gpus() const;
  // `now` is nanoseconds of CLOCK_MONOTONIC.
  void sample(RunFileWriter& writer, std::int64_t now);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace sonde
