#include "capture/cuda/collector.hpp"

namespace sonde::capture::cuda {

bool note_devices(const Driver& f) {
  cupti::FileHeader& file = header();
  int count = 0;
  if (f.cuDeviceGetCount(&count) != 0) return false;
  if (count > static_cast<int>(cupti::kMaxDevices)) count = cupti::kMaxDevices;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    if (f.cuDeviceGet(&device, i) != 0) return false;
    const auto number = [&](DeviceAttribute attribute) {
      int value = 0;
      return f.cuDeviceGetAttribute(&value, static_cast<int>(attribute), device) == 0 ? value : 0;
    };
    cupti::DeviceFacts& facts = file.devices[i];
    f.cuDeviceGetName(facts.name, sizeof facts.name - 1, device);
    f.cuDeviceGetUuid(facts.uuid, device);
    std::size_t bytes = 0;
    if (f.cuDeviceTotalMem_v2(&bytes, device) == 0) facts.memory_bytes = bytes;
    facts.compute_major = number(DeviceAttribute::ComputeMajor);
    facts.compute_minor = number(DeviceAttribute::ComputeMinor);
    facts.multiprocessors = number(DeviceAttribute::Multiprocessors);
    facts.warp_size = number(DeviceAttribute::WarpSize);
    facts.max_threads_per_block = number(DeviceAttribute::MaxThreadsPerBlock);
    facts.max_threads_per_multiprocessor = number(DeviceAttribute::MaxThreadsPerMultiprocessor);
    facts.registers_per_block = number(DeviceAttribute::MaxRegistersPerBlock);
    facts.registers_per_multiprocessor = number(DeviceAttribute::MaxRegistersPerMultiprocessor);
    facts.shared_per_block = number(DeviceAttribute::MaxSharedPerBlock);
    facts.shared_per_block_optin = number(DeviceAttribute::MaxSharedPerBlockOptin);
    facts.shared_per_multiprocessor = number(DeviceAttribute::MaxSharedPerMultiprocessor);
    facts.reserved_shared_per_block = number(DeviceAttribute::ReservedSharedPerBlock);
    facts.max_blocks_per_multiprocessor = number(DeviceAttribute::MaxBlocksPerMultiprocessor);
    facts.core_clock_khz = number(DeviceAttribute::ClockRate);
    facts.memory_clock_khz = number(DeviceAttribute::MemoryClockRate);
    facts.memory_bus_bits = number(DeviceAttribute::MemoryBusWidth);
    facts.l2_bytes = number(DeviceAttribute::L2Bytes);
    facts.pci_domain = number(DeviceAttribute::PciDomain);
    facts.pci_bus = number(DeviceAttribute::PciBus);
    facts.pci_device = number(DeviceAttribute::PciDevice);
  }
  __atomic_store_n(&file.device_count, static_cast<std::uint32_t>(count), __ATOMIC_RELEASE);
  return true;
}

}  // namespace sonde::capture::cuda
