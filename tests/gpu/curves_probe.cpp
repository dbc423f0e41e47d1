// The curves of the GPUs of this machine, ten times a second, without anything else of Sonde:
//
//   curves_probe OUT.sonde SECONDS
//
// scripts/gpu_proof builds it with a compiler alone.

#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "system/gpu_sampler.hpp"
#include "system/run_file_writer.hpp"

namespace {

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  sonde::RunFileWriter writer(arguments[1], "curves");
  sonde::GpuSampler sampler(writer);
  std::printf("  %zu GPU(s) tell of themselves\n", sampler.gpus());
  const std::int64_t end = now() + std::atol(arguments[2]) * 1'000'000'000;
  while (now() < end) {
    sampler.sample(writer, now());
    const timespec pause{0, 100'000'000};
    nanosleep(&pause, nullptr);
  }
  writer.close();
  return sampler.gpus() > 0 ? 0 : 1;
}
