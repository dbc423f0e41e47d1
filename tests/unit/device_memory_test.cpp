#include "analysis/device_memory.hpp"

#include <gtest/gtest.h>

#include "analysis/system_use.hpp"
#include "import/loader.hpp"
#include "tests/support/counters.hpp"
#include "tests/support/files.hpp"
#include "trace/builder.hpp"
#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

void allocate(TraceBuilder& builder, Nanos time, std::int32_t type, std::int32_t device,
              std::int64_t bytes, std::int64_t total = kNoNumber) {
  Allocation allocation;
  allocation.time = time;
  allocation.device_type = type;
  allocation.device = device;
  allocation.bytes = bytes;
  allocation.total_allocated = total;
  builder.add_allocation(allocation);
}

std::vector<NamedTrace> one(TraceBuilder& builder) {
  builder.nest(1);
  std::vector<NamedTrace> out(1);
  out[0].trace = builder.finish();
  return out;
}

TEST(DeviceMemory, AddsUpWhatIsAllocatedOnEachDevice) {
  TraceBuilder builder;
  Device device;
  device.id = 1;
  device.name = "Card";
  builder.meta().devices.push_back(device);
  allocate(builder, 30, 1, 1, -100);
  allocate(builder, 10, 1, 1, 100);  // not in the order of time
  allocate(builder, 20, 1, 1, 50);
  allocate(builder, 15, 1, 0, 7);
  allocate(builder, 0, 0, -1, 1000);
  allocate(builder, 6, 0, -1, -4000);  // from before the recording
  allocate(builder, 7, 0, -1, 10);
  const std::vector<NamedTrace> traces = one(builder);
  const std::vector<DeviceMemory> memory = device_memory(traces);
  ASSERT_EQ(memory.size(), 3u);
  EXPECT_EQ(memory[0].curve.label, "GPU 0");
  EXPECT_EQ(memory[1].curve.label, "GPU 1: Card");
  EXPECT_EQ(memory[1].curve.peak, 150);
  EXPECT_EQ(memory[1].curve.peak_time, 20);
  EXPECT_EQ(memory[1].curve.points.back().bytes, 50);
  EXPECT_EQ(memory[1].allocations, 2);
  EXPECT_EQ(memory[2].curve.label, "CPU");
  EXPECT_EQ(memory[2].curve.peak, 1000);
  EXPECT_EQ(memory[2].curve.points.back().bytes, 10);
}

TEST(DeviceMemory, BelievesTotalsThatAreTold) {
  TraceBuilder builder;
  allocate(builder, 1, 1, 0, 10, 510);
  allocate(builder, 2, 1, 0, -10, 500);
  Allocation failed;
  failed.time = 3;
  failed.device_type = 1;
  failed.device = 0;
  failed.bytes = 1 << 30;
  failed.out_of_memory = true;
  builder.add_allocation(failed);
  const std::vector<NamedTrace> traces = one(builder);
  const std::vector<DeviceMemory> memory = device_memory(traces);
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory[0].curve.peak, 510);
  EXPECT_EQ(memory[0].curve.points.back().bytes, 500);
  EXPECT_EQ(memory[0].failed, 1);
}

TEST(DeviceMemory, SumsThatAreTooLargeStayLarge) {
  TraceBuilder builder;
  allocate(builder, 1, 1, 0, INT64_MAX);
  allocate(builder, 2, 1, 0, INT64_MAX);
  const std::vector<NamedTrace> traces = one(builder);
  EXPECT_EQ(device_memory(traces)[0].curve.peak, INT64_MAX);
}

TEST(DeviceMemory, KnowsWhatTheDriverTells) {
  TraceBuilder builder;
  test::add_counter(builder, 1, "gpu 0: Card", names::kGpuMemory, 600);
  test::add_counter(builder, 2, "gpu 0: Card", names::kGpuMemory, 900);
  test::add_counter(builder, 2, "machine", names::kMemoryUsed, 5e9);
  test::add_counter(builder, 3, "GPU", std::string(names::kTakenFromCuda) + "0", 64);
  const std::vector<NamedTrace> traces = one(builder);
  const std::vector<DeviceMemory> memory = device_memory(traces);
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].curve.label, "GPU 0");
  EXPECT_EQ(memory[0].count, DeviceMemory::Count::Reserved);
  EXPECT_EQ(memory[1].curve.label, "GPU 0: Card");
  EXPECT_EQ(memory[1].count, DeviceMemory::Count::InUse);
  EXPECT_EQ(memory[1].curve.peak, 900);
}

TEST(DeviceMemory, AgreesWithARealTrace) {
  Result<LoadedSet> set =
      load_traces({std::string(SONDE_TEST_DATA) + "/resnet50_workers0.pt.trace.json.gz"});
  ASSERT_TRUE(set);
  std::int64_t most = 0;
  for (const Allocation& allocation : set->traces[0].trace.allocations()) {
    if (allocation.device_type == 1) most = std::max(most, allocation.total_allocated);
  }
  const std::vector<DeviceMemory> memory = device_memory(set->traces);
  ASSERT_GE(memory.size(), 2u);
  EXPECT_GT(most, 0);
  EXPECT_EQ(memory[0].curve.peak, most);
}

TEST(SystemUse, TellsOfTheGpus) {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  for (const Nanos time : {Nanos{0}, Nanos{1'000'000'000}}) {
    test::add_counter(builder, time, names::kProcesses, names::kCpuTime,
                      static_cast<double>(time) / 2);
    test::add_counter(builder, time, names::kProcesses, names::kResident, 1 << 20);
    test::add_counter(builder, time, names::kMachine, names::kBusyTime, 1);
    test::add_counter(builder, time, "gpu 0: Card", names::kGpuUse, time == 0 ? 20 : 60);
    test::add_counter(builder, time, "gpu 0: Card", names::kGpuPower, time == 0 ? 100 : 300);
    test::add_counter(builder, time, "gpu 0: Card", names::kGpuMemory, time == 0 ? 7 : 5);
  }
  const std::vector<NamedTrace> traces = one(builder);
  const std::optional<SystemUse> use = system_use(traces[0].trace);
  ASSERT_TRUE(use);
  ASSERT_EQ(use->gpus.size(), 1u);
  const GpuUse& gpu = use->gpus[0];
  EXPECT_EQ(gpu.device, "0: Card");
  EXPECT_EQ(gpu.busy, 40);
  EXPECT_EQ(gpu.power, 200);
  EXPECT_EQ(gpu.peak_power, 300);
  EXPECT_EQ(gpu.peak_memory, 7);
  EXPECT_FALSE(gpu.clock);
}

}  // namespace
}  // namespace sonde
