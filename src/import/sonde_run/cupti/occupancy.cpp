#include "import/sonde_run/cupti/occupancy.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::cupti {
namespace {

constexpr std::int64_t kNoLimit = INT64_MAX;
constexpr std::int64_t kRegisterUnit = 256;  // in which a warp gets its registers
constexpr std::int64_t kMostRegisters = 255;

std::int64_t divide_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }
std::int64_t round_up(std::int64_t number, std::int64_t unit) {
  return divide_up(number, unit) * unit;
}

std::int64_t by_registers(const DeviceFacts& device, const LaunchShape& launch,
                          std::int64_t warps) {
  const std::int64_t for_warp =
      round_up(launch.registers_per_thread * device.warp_size, kRegisterUnit);
  if (for_warp == 0) return kNoLimit;
  // Each quarter of a multiprocessor (half, on compute capability 6.0) has registers of its own.
  const std::int64_t parts = device.compute_major == 6 && device.compute_minor == 0 ? 2 : 4;
  if (launch.registers_per_thread > kMostRegisters ||
      for_warp * round_up(warps, parts) > device.registers_per_block) {
    return 0;
  }
  return device.registers_per_multiprocessor / parts / for_warp * parts / warps;
}

std::int64_t by_shared_memory(const DeviceFacts& device, const LaunchShape& launch,
                              std::int64_t most_per_block) {
  const std::int64_t unit = device.compute_major >= 8 ? 128 : 256;
  const std::int64_t reserved = device.compute_major >= 8 ? device.reserved_shared_per_block : 0;
  const std::int64_t bytes = round_up(launch.shared_bytes + reserved, unit);
  if (bytes == 0) return kNoLimit;
  return bytes > most_per_block + reserved ? 0 : device.shared_per_multiprocessor / bytes;
}

}  // namespace

Occupancy find_occupancy(const DeviceFacts& device, const LaunchShape& launch) {
  Occupancy out;
  if (device.multiprocessors <= 0 || launch.blocks <= 0 || launch.threads_per_block <= 0) {
    return out;
  }
  const double blocks =
      static_cast<double>(launch.blocks) / static_cast<double>(device.multiprocessors);
  out.blocks_per_sm = static_cast<float>(blocks);
  const std::int64_t warp_size = device.warp_size > 0 ? device.warp_size : 32;
  out.warps_per_sm = static_cast<float>(blocks * static_cast<double>(launch.threads_per_block) /
                                        static_cast<double>(warp_size));
  const bool sane = launch.registers_per_thread >= 0 && launch.registers_per_thread <= 65535 &&
                    launch.shared_bytes >= 0 && launch.shared_bytes <= INT32_MAX &&
                    launch.threads_per_block <= INT32_MAX;
  if (device.max_threads_per_multiprocessor <= 0 || device.warp_size <= 0 ||
      device.registers_per_multiprocessor <= 0 || device.shared_per_multiprocessor <= 0 || !sane) {
    return out;
  }
  const std::int64_t warps = divide_up(launch.threads_per_block, device.warp_size);
  std::int64_t common = launch.threads_per_block > device.max_threads_per_block
                            ? 0
                            : device.max_threads_per_multiprocessor / device.warp_size / warps;
  common = std::min(common, by_registers(device, launch, warps));
  if (device.max_blocks_per_multiprocessor > 0) {
    common = std::min<std::int64_t>(common, device.max_blocks_per_multiprocessor);
  }
  const auto percent = [&](std::int64_t active) {
    const double resident = std::min(static_cast<double>(active), blocks) *
                            static_cast<double>(launch.threads_per_block);
    return 100 * resident / static_cast<double>(device.max_threads_per_multiprocessor);
  };
  const std::int64_t most = std::max(device.shared_per_block, device.shared_per_block_optin);
  out.active_blocks = std::min(common, by_shared_memory(device, launch, most));
  out.percent = static_cast<float>(percent(out.active_blocks));
  const std::int64_t for_kineto =
      std::min(common, by_shared_memory(device, launch, device.shared_per_block));
  out.kineto_percent = static_cast<float>(std::lround(percent(for_kineto)));
  return out;
}

}  // namespace sonde::cupti
