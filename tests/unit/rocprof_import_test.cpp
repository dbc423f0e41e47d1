#include "import/rocprof/rocprof.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "import/csv/csv_reader.hpp"
#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::losses;
using test::slice_named;

const std::string kKernels =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_"
    "Name\","
    "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\","
    "\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\","
    "\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
    "\"KERNEL_DISPATCH\",1,2,69,5,16,\"void add<float>(float*, "
    "\"\"x\"\")\",14,1000,1500,0,256,64,1,1,"
    "1000,8,1\n";
const std::string kCalls =
    "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\","
    "\"End_Timestamp\"\n";
const std::string kCounters =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\"\n"
    "1,5,1,1,7,7,1048576,16,\"add\",64,0,0,8,16,\"SQ_WAVES\",16384\n"
    "1,5,1,1,7,7,1048576,16,\"add\",64,0,0,8,16,\"GRBM_COUNT\",0.5\n";

Trace read(const std::string& text) {
  EXPECT_TRUE(looks_like_rocprof_csv(text));
  return test::import_or_fail(text, import_rocprof_csv);
}

TEST(RocprofImport, Kernels) {
  const Trace trace = read(kKernels);
  const SliceId kernel = slice_named(trace, "void add<float>(float*, \"x\")");
  ASSERT_TRUE(kernel.valid());
  EXPECT_EQ(trace.slices().duration(kernel), 500);
  const DeviceRow& row = *trace.device_work().find(kernel);
  EXPECT_EQ(row.grid, (std::array<std::int32_t, 3>{16, 8, 1}));  // in groups
  EXPECT_EQ(row.block, (std::array<std::int32_t, 3>{64, 1, 1}));
  EXPECT_EQ(row.device, 1);
  EXPECT_EQ(row.stream, 2);
  EXPECT_EQ(row.shared_memory, 256);
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(kernel)).name), "queue 2");
  EXPECT_EQ(losses(trace, "device_work_without_launch"), 1u);
}

TEST(RocprofImport, CallsMarkersAndCopies) {
  const Trace trace = read(kCalls +
                           "\"HIP_RUNTIME_API\",\"hipMalloc\",7,8,1,100,200\n"
                           "\"HSA_CORE_API\",\"hsa_init\",7,8,2,110,120\r\n"
                           "\n"
                           "\"MARKER_CORE_API\",\"range, with comma\",7,8,3,50,300\n"
                           "\"MARKER_CORE_API\",\"instant\",7,8,4,60,60\n"
                           "\"HIP_RUNTIME_API\",\"odd\",7,8,1,never,200\n"
                           "\"HIP_RUNTIME_API\",\"back\",7,8,1,400,300");
  const SliceId malloc_call = slice_named(trace, "hipMalloc");
  EXPECT_EQ(trace.slices().kind(malloc_call), SliceKind::Runtime);
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "hsa_init")), SliceKind::Driver);
  EXPECT_EQ(trace.slices().parent(malloc_call), slice_named(trace, "range, with comma"));
  EXPECT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(losses(trace, "odd_rows"), 1u);
  EXPECT_EQ(losses(trace, "negative_duration"), 1u);
  const Trace copies = read(
      "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\","
      "\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,1,0,10,20\n"
      "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",\"Agent 1\",0,0,30,45\n");
  EXPECT_EQ(copies.device_work().find(slice_named(copies, "Memcpy HtoD"))->device, 1);
  EXPECT_EQ(copies.device_work().find(slice_named(copies, "Memcpy DtoH"))->device, 1);
  EXPECT_EQ(copies.tracks().size(), 1u);
}

TEST(RocprofImport, CountersAloneAreKernelsWithoutTimes) {
  const Trace trace = read(kCounters);
  ASSERT_EQ(trace.slice_count(), 1u);
  const auto args = trace.arguments().of(SliceId(std::uint32_t{0}));
  ASSERT_EQ(args.size(), 5u);  // dispatch, thread, scalar registers, two counters
  EXPECT_EQ(trace.text(args[3].key()), "SQ_WAVES");
  EXPECT_EQ(args[3].real(), 16384);
  EXPECT_EQ(losses(trace, "kernels_without_times"), 1u);
}

TEST(RocprofImport, TotalsAreACallProfile) {
  const Trace trace = read(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
      "\"StdDev\"\n\"hipMalloc\",4,262497406,65624351.5,85.15,3991286,249121840,122332531.3\n");
  ASSERT_EQ(trace.call_profile().functions.size(), 1u);
  EXPECT_EQ(trace.call_profile().functions[0].calls, 4);
  EXPECT_EQ(trace.call_profile().function_total[0], 262497406);
  EXPECT_EQ(losses(trace, "totals_only"), 1u);
}

TEST(RocprofImport, FilesOfOneRunAreReadTogether) {
  const test::ScratchFolder folder;
  folder.write("run/123_kernel_trace.csv", kKernels);
  folder.write("run/123_counter_collection.csv", kCounters);
  folder.write("run/123_hip_api_trace.csv",
               kCalls + "\"HIP_RUNTIME_API\",\"hipLaunchKernel\",123,69,14,900,950\n");
  folder.write("run/123_agent_info.csv",
               "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Wave_Front_Size\","
               "\"Product_Name\"\n0,0,\"CPU\",0,0,\"EPYC\"\n1,1,\"GPU\",110,64,\"MI250\"\n");
  folder.write("run/123_kernel_stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"a\",1,1\n");
  folder.write("run/999_kernel_trace.csv", kKernels);
  const Result<std::vector<TraceFile>> found = find_trace_files(folder.path().string());
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  const Result<Trace> trace = load_trace((folder.path() / "run/123_kernel_trace.csv").string());
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_EQ(trace->slice_count(), 2u);
  const SliceId kernel = slice_named(*trace, "void add<float>(float*, \"x\")");
  EXPECT_EQ(trace->launch_to_device().source(kernel), slice_named(*trace, "hipLaunchKernel"));
  EXPECT_EQ(trace->track(trace->slices().track(kernel)).pid, 123);
  EXPECT_EQ(trace->arguments().of(kernel).size(), 4u);
  ASSERT_EQ(trace->meta().devices.size(), 1u);
  EXPECT_EQ(trace->meta().devices[0].name, "MI250");
  EXPECT_TRUE(trace->losses().empty());
  // Whichever of them is asked for.
  const Result<Trace> other = load_trace((folder.path() / "run/123_hip_api_trace.csv").string());
  ASSERT_TRUE(other);
  EXPECT_EQ(other->slice_count(), 2u);
}

TEST(RocprofImport, Json) {
  const std::string text = R"json({"rocprofiler-sdk-tool": [{"metadata": {"pid": 9, "init_time": 1},
    "agents": [{"id": {"handle": 100}, "type": 1}, {"id": {"handle": 200}, "type": 2,
      "cu_count": 104, "wave_front_size": 64, "max_waves_per_simd": 8, "simd_per_cu": 4,
      "product_name": "MI300"}],
    "counters": [{"id": {"handle": 3}, "name": "SQ_WAVES"}],
    "strings": {"buffer_records": [{"kind": "NONE", "operations": []},
      {"kind": "HIP_RUNTIME_API", "operations": ["none", "hipLaunchKernel"]},
      {"kind": "KERNEL_DISPATCH", "operations": ["none"]},
      {"kind": "MARKER_CORE_API", "operations": ["roctxRangePushA"]},
      {"kind": "MEMORY_COPY", "operations": ["none", "MEMORY_COPY_DEVICE_TO_HOST"]},
      {"kind": "SCRATCH_MEMORY", "operations": ["SCRATCH_MEMORY_ALLOC"]}],
      "marker_api": [{"key": 8, "value": "my range"}]},
    "kernel_symbols": [{"kernel_id": 16, "kernel_name": "_Z3add", "demangled_kernel_name": "add()"}],
    "callback_records": {"counter_collection": [{"dispatch_data": {"correlation_id":
      {"internal": 7}, "dispatch_info": {"dispatch_id": 1, "kernel_id": 16}}, "records":
      [{"counter_id": {"handle": 3}, "value": 2}, {"counter_id": {"handle": 3}, "value": 3}]}]},
    "buffer_records": {
  "kernel_dispatch": [{"kind": 2, "operation": 0, "thread_id": 9, "correlation_id":
        {"internal": 7, "external": 0}, "start_timestamp": 100, "end_timestamp": 180,
        "dispatch_info": {"agent_id": {"handle": 200}, "queue_id": {"handle": 4}, "kernel_id": 16,
        "dispatch_id": 1, "workgroup_size": {"x": 64, "y": 1, "z": 1},
        "grid_size": {"x": 128, "y": 1, "z": 1}}}, {"kind": 2}],
      "hip_api": [{"kind": 1, "operation": 1, "thread_id": 9, "correlation_id": {"internal": 7},
        "start_timestamp": 50, "end_timestamp": 60}],
      "marker_api": [{"kind": 3, "operation": 0, "thread_id": 9, "correlation_id": {"internal": 8},
        "start_timestamp": 40, "end_timestamp": 90}],
      "scratch_memory": [{"kind": 5, "operation": 0, "thread_id": 9, "start_timestamp": 41,
        "end_timestamp": 42}],
      "memory_copy": [{"kind": 4, "operation": 1, "thread_id": 9, "correlation_id": {"internal": 0},
        "start_timestamp": 200, "end_timestamp": 210, "src_agent_id": {"handle": 200},
        "dst_agent_id": {"handle": 100}, "bytes": 50}]
}
}]
})json";
  EXPECT_TRUE(looks_like_rocprof_json(text));
  const Trace trace = test::import_or_fail(text, import_rocprof_json);
  const SliceId kernel = slice_named(trace, "add()");
  ASSERT_TRUE(kernel.valid());
  const SliceId call = slice_named(trace, "hipLaunchKernel");
  EXPECT_EQ(trace.launch_to_device().source(kernel), call);
  EXPECT_EQ(trace.slices().parent(call), slice_named(trace, "my range"));
  EXPECT_EQ(trace.operator_to_launch().source(call), slice_named(trace, "my range"));
  EXPECT_EQ(trace.device_work().find(kernel)->device, 0);
  EXPECT_EQ(trace.device_work().find(kernel)->grid[0], 2);
  EXPECT_EQ(trace.arguments().of(kernel).back().real(), 5);
  const SliceId copy = slice_named(trace, "Memcpy DtoH");
  EXPECT_EQ(trace.device_work().find(copy)->bytes, 50);
  EXPECT_EQ(trace.device_work().find(copy)->device, 0);
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "SCRATCH_MEMORY_ALLOC")), SliceKind::Other);
  EXPECT_EQ(trace.meta().devices.at(0).max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(losses(trace, "odd_records"), 1u);
  EXPECT_FALSE(looks_like_rocprof_json(R"({"properties": {"rocprofiler-sdk-tool": []}})"));
  const Result<Trace> cut = test::try_import(text.substr(0, 500), import_rocprof_json);
  EXPECT_FALSE(cut);
}

TEST(RocprofImport, OtherTablesAreNotMistaken) {
  EXPECT_FALSE(looks_like_rocprof_csv("Name,Calls\na,1\n"));
  EXPECT_FALSE(looks_like_rocprof_csv("{\"traceEvents\": []}\n"));
  EXPECT_FALSE(looks_like_rocprof_csv(""));
}

TEST(RocprofImport, ReadsTheRealTables) {
  const std::filesystem::path folder = std::string(SONDE_SHARED_DATA) + "/rocprofv3";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const auto& [name, slices] : {std::pair{"kernel_trace.csv", 7u},
                                     {"hsa_api_trace.csv", 10u},
                                     {"hip_runtime_trace.csv", 8u},
                                     {"memory_copy_trace.csv", 2u},
                                     {"counter_collection.csv", 7u},
                                     {"kernel_names.csv", 4u}}) {
    const Result<Trace> trace = load_trace((folder / name).string());
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_EQ(trace->meta().format, "rocprof") << name;
    EXPECT_EQ(trace->slice_count(), slices) << name;
  }
}

TEST(CsvReader, FieldsQuotesAndLineEnds) {
  const std::string text = "a,\"b \"\"c\"\"\",\r\n\n\"two\nlines\",x\"y\nlast";
  const auto source = make_plain_source(make_memory_reader(text), {});
  CsvReader reader(*source);
  ASSERT_TRUE(*reader.next());
  EXPECT_EQ(reader.fields(), (std::vector<std::string>{"a", "b \"c\"", ""}));
  ASSERT_TRUE(*reader.next());
  EXPECT_EQ(reader.fields(), (std::vector<std::string>{"two\nlines", "x\"y"}));
  ASSERT_TRUE(*reader.next());
  EXPECT_EQ(reader.fields(), (std::vector<std::string>{"last"}));
  EXPECT_FALSE(*reader.next());
}

}  // namespace
}  // namespace sonde
