// The occupancy that Sonde computes against the one that PyTorch's profiler wrote, for every kernel
// of real traces.

#include <gtest/gtest.h>

#include "base/demangle.hpp"
#include "import/loader.hpp"
#include "import/sonde_run/cupti/labels.hpp"
#include "import/sonde_run/cupti/occupancy.hpp"

namespace sonde::cupti {
namespace {

DeviceFacts h200() {
  DeviceFacts out{};
  out.compute_major = 9;
  out.multiprocessors = 132;
  out.warp_size = 32;
  out.max_threads_per_block = 1024;
  out.max_threads_per_multiprocessor = 2048;
  out.registers_per_block = out.registers_per_multiprocessor = 65536;
  out.shared_per_block = 49152;
  out.shared_per_block_optin = 232448;
  out.shared_per_multiprocessor = 233472;
  out.reserved_shared_per_block = 1024;
  out.max_blocks_per_multiprocessor = 32;
  return out;
}

TEST(Occupancy, EqualsTheOneOfPyTorchForRealKernels) {
  const Result<Trace> trace = load_trace(SONDE_TEST_DATA "/resnet50_workers0.pt.trace.json.gz", {});
  ASSERT_TRUE(trace);
  const DeviceFacts device = h200();
  std::size_t checked = 0;
  for (std::size_t i = 0; i < trace->device_work().size(); ++i) {
    const DeviceRow& row = trace->device_work().row(i);
    if (row.occupancy < 0 || row.grid[0] < 0) continue;
    LaunchShape shape;
    shape.blocks = std::int64_t{row.grid[0]} * row.grid[1] * row.grid[2];
    shape.threads_per_block = std::int64_t{row.block[0]} * row.block[1] * row.block[2];
    shape.registers_per_thread = row.registers;
    shape.shared_bytes = row.shared_memory;
    const Occupancy found = find_occupancy(device, shape);
    EXPECT_FLOAT_EQ(found.kineto_percent, row.occupancy)
        << trace->name(trace->device_work().key(i));
    EXPECT_NEAR(found.blocks_per_sm, row.blocks_per_sm, 1e-5 * row.blocks_per_sm + 1e-5);
    EXPECT_NEAR(found.warps_per_sm, row.warps_per_sm, 1e-5 * row.warps_per_sm + 1e-5);
    ++checked;
  }
  EXPECT_GT(checked, 500u);
}

TEST(Occupancy, CountsMoreThanTheUsualSharedMemory) {
  const Occupancy large = find_occupancy(h200(), {1320, 128, 64, 100 * 1024});
  EXPECT_FLOAT_EQ(large.kineto_percent, 0);
  EXPECT_EQ(large.active_blocks, 2);
  EXPECT_FLOAT_EQ(large.percent, 12.5f);
}

TEST(Occupancy, NeedsADevice) {
  EXPECT_EQ(find_occupancy(DeviceFacts{}, {10, 64, 32, 0}).active_blocks, -1);
  EXPECT_FLOAT_EQ(find_occupancy(h200(), {10, 0, 32, 0}).percent, -1);
}

TEST(CuptiLabels, NamesAreThoseOfPyTorch) {
  EXPECT_EQ(copy_name(1, 2, 3), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copy_name(10, 3, 3), "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(copy_name(99, 99, 99), "Memcpy (Unknown -> Unknown)");
  EXPECT_EQ(fill_name(3), "Memset (Device)");
  EXPECT_EQ(without_version("cudaMalloc_v3020"), "cudaMalloc");
  EXPECT_EQ(without_version("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(demangled("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangled("_Zbroken"), "_Zbroken");
  EXPECT_EQ(demangled("triton_known"), "triton_known");
  EXPECT_EQ(overhead_name(7 << 16), "Activity Buffer Request");
}

}  // namespace
}  // namespace sonde::cupti
