// What else reports of Nsight Systems hold besides the work of the GPU.

#include <gtest/gtest.h>

#include <string>

#include "import/nsys/nsys.hpp"
#include "import/nsys/torch_range.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/nsys_tables.hpp"
#include "tests/support/sqlite_file.hpp"

namespace sonde {
namespace {

using test::call;
using test::cuda_tables;
using test::kernel;
using test::kOtherThread;
using test::kProcess;
using test::kThread;
using test::losses;
using test::nsys;
using test::slice_named;
using test::strings;

TEST(NsysEvents, NvtxRangesMarksDomainsCategoriesAndPayloads) {
  const Trace trace = nsys(
      strings("(1,'shared text'),(2,'cudaLaunchKernel'),(3,'k'),(9,'{\"a\": 1}')") + cuda_tables() +
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER,"
      " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,"
      " textId INTEGER, domainId INTEGER, uint64Value INTEGER, doubleValue REAL,"
      " jsonTextId INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES"
      " (100, 900, 59, NULL, 4, NULL, 'forward', " +
      kThread +
      ", NULL, NULL, 0, 77, NULL, NULL),"
      " (200, 300, 59, NULL, NULL, NULL, 'aten::add, seq = 5, op_id = 12, sizes = [[2, 3], []]', " +
      kThread +
      ", NULL, NULL, 0, NULL, NULL, NULL),"
      " (400, NULL, 34, NULL, NULL, NULL, NULL, " +
      kThread +
      ", NULL, 1, 3, NULL, 0.5, NULL),"
      " (500, 950, 60, 1, NULL, NULL, 'async', " +
      kThread + ", " + kOtherThread +
      ", NULL, 3, NULL, NULL, 9),"
      " (600, NULL, 60, 2, NULL, NULL, 'open', " +
      kThread +
      ", NULL, NULL, 0, NULL, NULL, NULL),"
      " (0, NULL, 33, NULL, 4, NULL, 'compute', " +
      kThread +
      ", NULL, NULL, 0, NULL, NULL, NULL),"
      " (0, NULL, 75, NULL, NULL, NULL, 'library', " +
      kThread +
      ", NULL, NULL, 3, NULL, NULL, NULL),"
      " (0, NULL, 39, NULL, NULL, NULL, 'named by nvtx', " +
      kThread +
      ", NULL, NULL, 0, NULL, NULL, NULL),"
      " (0, NULL, 70, NULL, NULL, NULL, 'new', " +
      kThread +
      ", NULL, NULL, 0, NULL, NULL, NULL);"
      "CREATE TABLE ANALYSIS_DETAILS (duration INTEGER);"
      "INSERT INTO ANALYSIS_DETAILS VALUES (5000);" +
      call(210, 220, 0, kThread, 1, 2) + kernel(1000, 1100, kProcess, 1, 3));
  const SliceId forward = slice_named(trace, "forward");
  EXPECT_EQ(trace.slices().kind(forward), SliceKind::UserRange);
  EXPECT_EQ(trace.text(*trace.categories().find(forward)), "compute");
  EXPECT_EQ(trace.arguments().of(forward)[0].integer(), 77);
  const SliceId add = slice_named(trace, "aten::add");
  EXPECT_EQ(trace.slices().kind(add), SliceKind::Operator);
  EXPECT_EQ(trace.slices().parent(add), forward);
  EXPECT_EQ(trace.operators().find(add)->sequence, 5);
  EXPECT_EQ(trace.text(trace.inputs(trace.operators().find(add)->inputs).shapes), "[[2, 3], []]");
  EXPECT_EQ(trace.operator_to_launch().source(slice_named(trace, "cudaLaunchKernel")), add);
  ASSERT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(trace.text(trace.markers()[0].name), "shared text");
  const auto mark_args = trace.marker_arguments().of(MarkerId(std::uint32_t{0}));
  ASSERT_EQ(mark_args.size(), 2u);
  EXPECT_EQ(trace.text(mark_args[0].text()), "library");
  EXPECT_EQ(mark_args[1].real(), 0.5);
  const SliceId async = slice_named(trace, "async");
  EXPECT_EQ(trace.track(trace.slices().track(async)).type, TrackType::Async);
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(async)).name), "NVTX ranges of library");
  EXPECT_EQ(trace.arguments().of(async).size(), 4u);
  EXPECT_EQ(trace.slices().duration(slice_named(trace, "open")), 4400);
  EXPECT_EQ(losses(trace, "open_ranges"), 1u);
  EXPECT_EQ(losses(trace, "unknown_nvtx"), 1u);
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(forward)).name), "named by nvtx");
}

TEST(NsysEvents, NumberedIterationsAreSteps) {
  std::string rows;
  for (const char* name : {"iteration 0", "Step_12", "iter#3", "step", "footstep 1", "epoch 2"}) {
    rows += std::string(rows.empty() ? "" : ",") + "(1, 2, 59, '" + name + "', " + kThread + ")";
  }
  const Trace trace =
      nsys(strings("(1,'a')") +
           "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
           " text TEXT, globalTid INTEGER); INSERT INTO NVTX_EVENTS VALUES " +
           rows + ";");
  for (const SliceId slice : all_slices(trace)) {
    EXPECT_EQ(trace.slices().kind(slice), slice.value < 3 ? SliceKind::Step : SliceKind::UserRange)
        << trace.name(slice);
  }
}

TEST(NsysEvents, CallsOfLibrariesOverheadAndTheOperatingSystem) {
  const std::string columns = "(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER";
  const std::string row = " VALUES (10, 20, " + kThread + ", ";
  const Trace trace = nsys(
      strings("(1,'pthread_mutex_lock'),(2,'CUPTI flush'),(3,'cublasSgemm'),(4,'MPI_Send'),"
              "(5,'main'),(6,'libc')") +
      "CREATE TABLE OSRT_API " + columns + ", callchainId INTEGER); INSERT INTO OSRT_API" + row +
      "1, 8);"
      "CREATE TABLE OSRT_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER,"
      " stackDepth INTEGER); INSERT INTO OSRT_CALLCHAINS VALUES (8,5,6,1),(8,1,6,0);"
      "CREATE TABLE PROFILER_OVERHEAD " +
      columns + "); INSERT INTO PROFILER_OVERHEAD" + row + "2);" + "CREATE TABLE CUBLAS_EVENTS " +
      columns + "); INSERT INTO CUBLAS_EVENTS" + row + "3);" + "CREATE TABLE MPI_P2P_EVENTS " +
      columns + "); INSERT INTO MPI_P2P_EVENTS" + row +
      "4);"
      "CREATE TABLE SOMETHING_NEW (a INTEGER); INSERT INTO SOMETHING_NEW VALUES (1);"
      "CREATE TABLE EMPTY_NEW (a INTEGER);");
  const SliceId lock = slice_named(trace, "pthread_mutex_lock");
  EXPECT_EQ(trace.slices().kind(lock), SliceKind::Api);
  EXPECT_EQ(trace.text(*trace.categories().find(lock)), "osrt");
  EXPECT_EQ(trace.text(trace.arguments().of(lock)[0].text()), "pthread_mutex_lock;main");
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "CUPTI flush")), SliceKind::Overhead);
  const SliceId gemm = slice_named(trace, "cublasSgemm");
  EXPECT_EQ(trace.text(*trace.categories().find(gemm)), "cublas");
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "MPI_Send")), SliceKind::Communication);
  ASSERT_EQ(losses(trace, "unread_tables"), 1u);
  EXPECT_EQ(trace.losses().find("unread_tables")->sentence,
            "Tables of the export that Sonde does not read: SOMETHING_NEW.");
}

TEST(NsysEvents, AllocationsSamplesSchedulingMetricsAndDiagnostics) {
  const Trace trace = nsys(
      strings("(1,'main'),(2,'libx'),(3,'leaf')") +
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId"
      " INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER,"
      " name TEXT);"
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (10, " +
      kProcess + ", 0, 4096, 100, 2, 0, 'pool'),(5, " + kProcess + ", 0, 1, 40, 2, 1, NULL),(30, " +
      kProcess +
      ", 0, 4096, 100, 2, 1, NULL);"
      "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, cpu INTEGER, threadState INTEGER,"
      " globalTid INTEGER, cpuCycles INTEGER);"
      "INSERT INTO COMPOSITE_EVENTS VALUES (1, 20, 0, 0, " +
      kThread + ", 500),(2, 25, 0, 0, " + kThread +
      ", 500);"
      "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, stackDepth"
      " INTEGER);"
      "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 3, 2, 0), (1, 1, 2, 1);"
      "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid"
      " INTEGER);"
      "INSERT INTO SCHED_EVENTS VALUES (40, 2, 1, " +
      kThread + "), (60, 2, 0, " + kThread + "), (70, 2, 1, " + kThread +
      ");"
      "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value"
      " INTEGER);"
      "INSERT INTO GPU_METRICS VALUES (50, 257, 3, 88);"
      "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);"
      "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (257, 3, 'SMs Active [Throughput %]');"
      "CREATE TABLE GENERIC_EVENTS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, data"
      " TEXT); INSERT INTO GENERIC_EVENTS VALUES (1, 55, 6, '{\"x\": 1}');"
      "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
      "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'started'), (2, 2, 'Buffers overflowed');");
  ASSERT_EQ(trace.allocations().size(), 3u);
  EXPECT_EQ(trace.allocations()[0].bytes, -40);
  EXPECT_EQ(trace.allocations()[0].total_allocated, 0);
  EXPECT_EQ(trace.allocations()[1].total_allocated, 100);
  EXPECT_EQ(trace.text(trace.allocations()[1].tag), "pool");
  EXPECT_EQ(trace.text(trace.allocations()[1].pool), "Device");
  EXPECT_EQ(trace.allocations()[2].total_allocated, 0);
  ASSERT_EQ(trace.samples().size(), 2u);
  EXPECT_EQ(trace.samples()[0].weight, 500);
  const StackFrame& leaf = trace.stacks()[trace.samples()[0].stack.index()];
  EXPECT_EQ(trace.text(leaf.function), "leaf");
  EXPECT_EQ(trace.text(trace.stacks()[leaf.caller.index()].function), "main");
  EXPECT_EQ(losses(trace, "samples_without_stack"), 1u);
  const SliceId running = slice_named(trace, "pid 10 tid 11");
  EXPECT_EQ(trace.slices().duration(running), 20);
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(running)).name), "CPU 2");
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_EQ(trace.text(trace.counters()[0].counter), "SMs Active [Throughput %]");
  EXPECT_EQ(trace.text(trace.track(trace.counters()[0].track).name), "GPU 1 metrics");
  EXPECT_EQ(trace.markers().size(), 1u);
  ASSERT_EQ(losses(trace, "nsys_warnings"), 1u);
  EXPECT_EQ(trace.losses().find("nsys_warnings")->sentence,
            "Nsight Systems warned while it recorded: Buffers overflowed.");
}

TEST(TorchRange, KnowsTheRangesOfEmitNvtx) {
  nsys::TorchRange range;
  EXPECT_TRUE(nsys::parse_torch_range("aten::mm, seq = 7", range));
  EXPECT_EQ(range.name, "aten::mm");
  EXPECT_EQ(range.sequence, 7);
  EXPECT_TRUE(nsys::parse_torch_range(
      "aten::mm, op_id = 3, sizes = [[2, 2]], input_op_ids = [(1,0)]", range));
  EXPECT_EQ(range.op_id, 3);
  EXPECT_EQ(range.sizes, "[[2, 2]]");
  EXPECT_FALSE(nsys::parse_torch_range("epoch 3, seq = many", range));
  EXPECT_FALSE(nsys::parse_torch_range(", seq = 7", range));
  EXPECT_FALSE(nsys::parse_torch_range("plain", range));
}

}  // namespace
}  // namespace sonde
