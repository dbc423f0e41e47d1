// Summaries of files that are no timeline of a training: what they cannot tell is not told.

#include <gtest/gtest.h>

#include "import/execution_trace/execution_trace.hpp"
#include "import/memory_snapshot/memory_snapshot.hpp"
#include "import/rocprof/rocprof.hpp"
#include "report/registry.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/pickle_file.hpp"
#include "tests/support/render.hpp"
#include "tests/support/small_trace.hpp"

namespace sonde {
namespace {

std::string render(const TraceSet& traces, const std::string& view) {
  return test::render(traces, view, "text");
}

TraceSet one(Trace trace, const std::string& name) {
  TraceSet set;
  set.push_back(testing::named(std::move(trace), name));
  return set;
}

Trace execution_trace() {
  return test::import_or_fail(R"json({"schema": "1.0.1", "pid": 5, "nodes": [
    {"name": "[pytorch|profiler|execution_trace|thread]", "id": 2, "parent": 1, "scope": 7,
     "tid": 1},
    {"name": "aten::rand", "id": 4, "rf_id": 3, "parent": 2, "seq_id": 9, "scope": 0, "tid": 1},
    {"name": "aten::empty", "id": 6, "rf_id": 4, "parent": 4, "scope": 0, "tid": 1},
    {"name": "nccl:all_gather", "id": 7, "rf_id": 5, "parent": 2, "scope": 0, "tid": 1},
    {"name": "aten::empty", "id": 8, "rf_id": 6, "parent": 2, "scope": 0, "tid": 1}]
})json",
                              import_execution_trace);
}

TEST(OtherTools, AnOrderHasNoTimes) {
  const std::string summary = render(one(execution_trace(), "order"), "summary");
  for (const char* const word : {" ns", " us", "%", "Advice"}) {
    EXPECT_EQ(summary.find(word), std::string::npos) << word;
  }
  testing::expect_golden("execution_trace_summary.txt", summary);
  testing::expect_golden("execution_trace_operators.txt",
                         render(one(execution_trace(), "order"), "operators"));
}

TEST(OtherTools, ASnapshotIsAboutMemory) {
  using namespace test::pickle;
  const auto entry = [](std::int64_t address, std::int64_t bytes, std::int64_t micros,
                        const std::string& action) {
    return dict({{"action", text(action)},
                 {"addr", number(address)},
                 {"size", number(bytes)},
                 {"stream", number(0)},
                 {"time_us", number(micros)},
                 {"frames", list({})}});
  };
  const auto segment = [](std::int64_t address, std::int64_t bytes, const std::string& pool,
                          const std::string& block) {
    return dict({{"device", number(0)},
                 {"address", number(address)},
                 {"total_size", number(bytes)},
                 {"stream", number(0)},
                 {"segment_type", text(pool)},
                 {"blocks", list({block})}});
  };
  const auto block = [](std::int64_t address, std::int64_t bytes) {
    return dict({{"address", number(address)},
                 {"size", number(bytes)},
                 {"requested_size", number(bytes)},
                 {"state", text("active_allocated")}});
  };
  const std::string bytes = file(
      dict({{"segments", list({segment(4096, 2048, "small", block(4096, 2048)),
                               segment(65536, 1 << 20, "large", block(65536, 1 << 20))})},
            {"device_traces",
             list({list({entry(4096, 2048, 100, "alloc"), entry(65536, 1 << 20, 200, "alloc"),
                         entry(8192, 1024, 300, "alloc"), entry(8192, 1024, 400, "free_requested"),
                         entry(8192, 1024, 410, "free_completed")})})}}));
  const TraceSet traces = one(test::import_or_fail(bytes, import_memory_snapshot), "snapshot");
  testing::expect_golden("memory_snapshot_summary.txt", render(traces, "summary"));
  // Pools share one total, so they are one allocator.
  testing::expect_golden("memory_snapshot_memory-profile.txt", render(traces, "memory-profile"));
}

TEST(OtherTools, RocprofsSumsAreFunctions) {
  const std::string sums =
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
      "\"StdDev\"\n\"hipMalloc\",4,3000000,750000,75,1,2,3\n\"hipFree\",2,1000000,500000,25,1,2,"
      "3\n";
  const TraceSet traces = one(test::import_or_fail(sums, import_rocprof_csv), "sums");
  testing::expect_golden("rocprof_stats_functions.txt", render(traces, "functions"));
}

TEST(OtherTools, AnOrderHasNoTimesInAnyView) {
  for (const char* const view : {"steps", "functions", "callgraph", "stacks", "overview",
                                 "input-pipeline", "framework-ops", "kernels", "devices"}) {
    const std::string text = render(one(execution_trace(), "order"), view);
    EXPECT_EQ(text.find(" ns"), std::string::npos) << text;
  }
}

TEST(OtherTools, CountersOfKernelsTellNoTimes) {
  const std::string counters =
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
      "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
      "\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\"\n"
      "1,5,1,1,7,7,1048576,16,\"add\",64,0,0,8,16,\"SQ_WAVES\",16384\n"
      "2,6,1,1,7,7,1048576,17,\"mul\",64,0,0,8,16,\"SQ_WAVES\",16384\n"
      "3,7,1,1,7,7,1048576,17,\"mul\",64,0,0,8,16,\"SQ_WAVES\",16384\n";
  const TraceSet traces = one(test::import_or_fail(counters, import_rocprof_csv), "counters");
  const std::string kernels = render(traces, "kernels");
  EXPECT_EQ(kernels.find(" ns"), std::string::npos) << kernels;
  EXPECT_LT(kernels.find("mul"), kernels.find("add")) << kernels;
  EXPECT_NE(kernels.find("have no times"), std::string::npos) << kernels;
  const std::string devices = render(traces, "devices");
  EXPECT_EQ(devices.find(" ns"), std::string::npos) << devices;
  EXPECT_NE(devices.find("Where the file has no times"), std::string::npos) << devices;
}

TEST(OtherTools, KernelsWithoutTimesBesideCallsWithTimes) {
  testing::TraceWriter writer;
  writer.call("hipLaunchKernel", 10, 80);
  writer.device("add", SliceKind::Kernel, 20, 0);
  const TraceSet traces = one(writer.finish(), "mixed");
  const std::string kernels = render(traces, "kernels");
  EXPECT_NE(kernels.find("have no times"), std::string::npos) << kernels;
  EXPECT_EQ(kernels.find(" ns"), std::string::npos) << kernels;
}

TEST(OtherTools, SelfTimesAreNotNegative) {
  testing::TraceWriter writer;
  writer.host("outer", SliceKind::Operator, 0, 100);
  writer.call("cudaOuter", 10, 80);
  writer.call("cudaInner", 15, 70);
  const std::string text = render(one(writer.finish(), "overlapping"), "operators");
  EXPECT_NE(text.find("outer         1      0 ns"), std::string::npos) << text;
}

TEST(OtherTools, KernelsTellTheirDeviceByTheirStream) {
  TraceBuilder builder;
  Track stream;
  stream.type = TrackType::Stream;
  stream.tid = 1;
  stream.device = 17;
  const TrackId track = builder.add_track(stream);
  const SliceId kernel =
      builder.add_slice(0, 1000, track, builder.intern("merge"), SliceKind::Kernel);
  builder.add_device_work(kernel, DeviceRow());
  builder.meta().device_family = "MTIA";
  builder.nest(1);
  const std::string summary = render(one(builder.finish(), "mtia"), "summary");
  EXPECT_NE(summary.find("\nMTIA    Busy\n"), std::string::npos) << summary;
  EXPECT_NE(summary.find("  17  100.0%"), std::string::npos) << summary;
}

TEST(OtherTools, KernelsAloneAreListedOnce) {
  testing::TraceWriter writer;
  writer.device("add", SliceKind::Kernel, 0, 20);
  writer.device("mul", SliceKind::Kernel, 30, 10);
  const std::string summary = render(one(writer.finish(), "kernels"), "summary");
  EXPECT_NE(summary.find("Top kernels"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("Top events"), std::string::npos) << summary;
}

TEST(OtherTools, TracesWithoutARankAreNoRanks) {
  TraceSet set;
  for (const char* const name : {"short", "long"}) {
    testing::TraceWriter writer;
    writer.host("work", SliceKind::Operator, 0, name[0] == 's' ? 10 : 1000);
    set.push_back(testing::named(writer.finish(), name));
  }
  const std::string summary = render(set, "summary");
  EXPECT_NE(summary.find("\nTraces\n"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("Ranks"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("Slowest"), std::string::npos) << summary;
}

}  // namespace
}  // namespace sonde
