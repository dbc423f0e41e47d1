#include "import/nsys/nsys.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "import/loader.hpp"
#include "import/nsys/torch_range.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/sqlite_file.hpp"

namespace sonde {
namespace {

using test::losses;
using test::slice_named;
using test::sqlite_file;

// Process 10 (0x0A) with thread 11, process 12 with thread 13, both on machine 1.
const std::string kProcess = std::to_string((std::int64_t{1} << 48) + (std::int64_t{10} << 24));
const std::string kThread = std::to_string((std::int64_t{1} << 48) + (std::int64_t{10} << 24) + 11);
const std::string kOther = std::to_string((std::int64_t{1} << 48) + (std::int64_t{12} << 24));
const std::string kOtherThread =
    std::to_string((std::int64_t{1} << 48) + (std::int64_t{12} << 24) + 13);

std::string strings(const std::string& rows) {
  return "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
         "INSERT INTO StringIds VALUES " +
         rows + ";";
}

std::string cuda_tables() {
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
         " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,"
         " callchainId INTEGER);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
         " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
         " demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread"
         " INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,"
         " blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,"
         " graphNodeId INTEGER);";
}

std::string call(long start, long end, int event_class, const std::string& tid, int correlation,
                 int name, int result = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," +
         std::to_string(end) + "," + std::to_string(event_class) + "," + tid + "," +
         std::to_string(correlation) + "," + std::to_string(name) + "," + std::to_string(result) +
         ",NULL);";
}

std::string kernel(long start, long end, const std::string& pid, int correlation, int name,
                   int context = 1) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + "," +
         std::to_string(end) + ",0," + std::to_string(context) + ",7," +
         std::to_string(correlation) + "," + pid + "," + std::to_string(name) +
         ",NULL,NULL,32,18,2,1,64,2,1,1024,512,NULL);";
}

std::string devices() {
  return "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER,"
         " smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER, maxWarpsPerSm INTEGER,"
         " threadsPerWarp INTEGER);"
         "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 1000, 9, 8, 6, 48, 32);";
}

Trace read(const std::string& statements) {
  const std::string bytes = sqlite_file(statements);
  EXPECT_TRUE(looks_like_nsys(bytes));
  return test::import_or_fail(bytes, import_nsys);
}

TEST(NsysImport, KernelsCallsAndTheirLinks) {
  const Trace trace =
      read(strings("(1,'cudaLaunchKernel_v7000'),(2,'cuLaunchKernel'),(3,'void gemm<float>(int)'),"
                   "(4,'worker')") +
           cuda_tables() + devices() +
           "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
           "INSERT INTO PROCESSES VALUES (" +
           kProcess + ",10,'train.py'),(" + kOther +
           ",12,'other');"
           "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
           "INSERT INTO ThreadNames VALUES (4, 20, " +
           kThread +
           ");"
           "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"
           "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '');" +
           call(1000, 1100, 0, kThread, 5, 1) + call(1200, 1250, 1, kThread, 6, 2, 700) +
           kernel(2000, 3000, kProcess, 5, 3) + kernel(3000, 3500, kProcess, 6, 3));
  ASSERT_EQ(trace.slice_count(), 4u);
  const SliceId runtime = slice_named(trace, "cudaLaunchKernel");
  const SliceId driver = slice_named(trace, "cuLaunchKernel");
  EXPECT_EQ(trace.slices().kind(runtime), SliceKind::Runtime);
  EXPECT_EQ(trace.slices().kind(driver), SliceKind::Driver);
  EXPECT_EQ(trace.arguments().of(driver)[0].integer(), 700);
  const SliceId first = slice_named(trace, "void gemm<float>(int)");
  EXPECT_EQ(trace.launch_to_device().source(first), runtime);
  EXPECT_EQ(trace.slices().start(first), 1000);
  EXPECT_EQ(trace.slices().duration(first), 1000);
  const DeviceRow& row = *trace.device_work().find(first);
  EXPECT_EQ(row.grid, (std::array<std::int32_t, 3>{18, 2, 1}));
  EXPECT_EQ(row.block, (std::array<std::int32_t, 3>{64, 2, 1}));
  EXPECT_EQ(row.registers, 32);
  EXPECT_EQ(row.shared_memory, 1536);
  EXPECT_FLOAT_EQ(row.blocks_per_sm, 4);
  EXPECT_FLOAT_EQ(row.warps_per_sm, 16);
  const Track& stream = trace.track(trace.slices().track(first));
  EXPECT_EQ(stream.type, TrackType::Stream);
  EXPECT_EQ(trace.text(stream.name), "stream 7");
  const Track& thread = trace.track(trace.slices().track(runtime));
  EXPECT_EQ(thread.pid, 10);
  EXPECT_EQ(thread.tid, 11);
  EXPECT_EQ(trace.text(thread.name), "worker");
  EXPECT_EQ(trace.text(thread.process), "train.py");
  EXPECT_EQ(trace.meta().devices[0].max_threads_per_multiprocessor, 1536);
  EXPECT_EQ(trace.meta().base_time, 1700000000000000000);
  EXPECT_EQ(trace.meta().origin, 1000);
  EXPECT_TRUE(trace.losses().empty());
  EXPECT_FALSE(trace.strings().find("other").valid());  // a process without events
}

TEST(NsysImport, CorrelationIdsOfTwoProcessesDoNotMix) {
  const Trace trace =
      read(strings("(1,'cudaLaunchKernel'),(3,'a'),(4,'b')") + cuda_tables() +
           call(1000, 1100, 0, kThread, 5, 1) + call(1001, 1101, 0, kOtherThread, 5, 1) +
           kernel(2000, 3000, kOther, 5, 4) + kernel(2000, 3000, kProcess, 5, 3));
  const SliceId a = slice_named(trace, "a");
  const SliceId b = slice_named(trace, "b");
  const auto pid_of_launch = [&](SliceId kernel) {
    return trace.track(trace.slices().track(trace.launch_to_device().source(kernel))).pid;
  };
  EXPECT_EQ(pid_of_launch(a), 10);
  EXPECT_EQ(pid_of_launch(b), 12);
  EXPECT_NE(trace.slices().track(a), trace.slices().track(b));
  EXPECT_EQ(losses(trace, "duplicate_correlation"), 0u);
}

TEST(NsysImport, StreamsOfTwoContextsAreTwoTracks) {
  const Trace trace = read(strings("(3,'a'),(4,'b')") + cuda_tables() +
                           kernel(1, 9, kProcess, 5, 3, 1) + kernel(2, 8, kProcess, 6, 4, 2));
  const SliceId b = slice_named(trace, "b");
  EXPECT_FALSE(trace.slices().parent(b).valid());
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(b)).name), "stream 7, context 2");
  EXPECT_EQ(losses(trace, "device_work_without_launch"), 2u);
}

TEST(NsysImport, CopiesMemsetsAndSynchronisation) {
  const std::string common =
      "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,"
      " correlationId INTEGER, globalPid INTEGER, ";
  const Trace trace = read(
      strings("(1,'x')") + "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" + common +
      "bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER,"
      " dstDeviceId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 200, 0, 1, 7, 1, " +
      kProcess + ", 4000, 1, 0, 2, NULL, NULL),(300, 400, 0, 1, 7, 2, " + kProcess +
      ", 8, 10, 2, 2, 0, 1),(500, 600, 0, 1, 7, 3, " + kProcess +
      ", 8, 99, NULL, NULL, NULL, NULL);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (" +
      common +
      "value INTEGER, bytes INTEGER, memKind INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (700, 710, 0, 1, 7, 4, " +
      kProcess +
      ", 255, 64, 2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (" +
      common +
      "syncType INTEGER, eventId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (90, 800, 0, 1, 4294967295, 9, " +
      kProcess + ", 4, NULL), (90, 500, 0, 1, 7, 9, " + kProcess + ", 3, NULL);");
  const SliceId copy = slice_named(trace, "Memcpy HtoD (Pageable -> Device)");
  ASSERT_TRUE(copy.valid());
  EXPECT_EQ(trace.device_work().find(copy)->bytes, 4000);
  EXPECT_FLOAT_EQ(trace.device_work().find(copy)->bandwidth, 40);
  const SliceId peer = slice_named(trace, "Memcpy PtoP (Device -> Device)");
  ASSERT_TRUE(peer.valid());
  EXPECT_EQ(trace.arguments().of(peer).size(), 2u);
  EXPECT_TRUE(slice_named(trace, "Memcpy").valid());
  const SliceId memset = slice_named(trace, "Memset (Device)");
  ASSERT_TRUE(memset.valid());
  EXPECT_EQ(trace.device_work().find(memset)->bytes, 64);
  EXPECT_EQ(trace.arguments().of(memset)[0].integer(), 255);
  const SliceId context = slice_named(trace, "Context sync");
  EXPECT_EQ(trace.slices().kind(context), SliceKind::Sync);
  EXPECT_TRUE(trace.arguments().of(context).empty());
  EXPECT_EQ(trace.arguments().of(slice_named(trace, "Stream sync"))[0].integer(), 7);
}

TEST(NsysImport, NvtxRangesMarksDomainsCategoriesAndPayloads) {
  const Trace trace = read(
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

TEST(NsysImport, NumberedIterationsAreSteps) {
  std::string rows;
  for (const char* name : {"iteration 0", "Step_12", "iter#3", "step", "footstep 1", "epoch 2"}) {
    rows += std::string(rows.empty() ? "" : ",") + "(1, 2, 59, '" + name + "', " + kThread + ")";
  }
  const Trace trace =
      read(strings("(1,'a')") +
           "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
           " text TEXT, globalTid INTEGER); INSERT INTO NVTX_EVENTS VALUES " +
           rows + ";");
  for (const SliceId slice : all_slices(trace)) {
    EXPECT_EQ(trace.slices().kind(slice), slice.value < 3 ? SliceKind::Step : SliceKind::UserRange)
        << trace.name(slice);
  }
}

TEST(NsysImport, CallsOfLibrariesOverheadAndTheOperatingSystem) {
  const std::string columns = "(start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER";
  const std::string row = " VALUES (10, 20, " + kThread + ", ";
  const Trace trace = read(
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

TEST(NsysImport, AllocationsSamplesSchedulingMetricsAndDiagnostics) {
  const Trace trace = read(
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

TEST(NsysImport, NeverCopiesWhatProgramsPrintedOrTheirEnvironment) {
  const Trace trace =
      read(strings("(1,'cudaMalloc'),(2,'SECRET=1'),(3,'/tmp/out.log')") + cuda_tables() +
           "CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER);"
           "INSERT INTO ProcessStreams VALUES (1, 3, 2);"
           "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, name TEXT, value TEXT);"
           "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'DeviceEnvironment', 'SECRET=2');"
           "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
           "INSERT INTO META_DATA_CAPTURE VALUES ('ENV', 'SECRET=3');" +
           call(1, 2, 0, kThread, 1, 1));
  for (std::size_t i = 0; i < trace.strings().size(); ++i) {
    const std::string_view text = trace.text(StringId(i));
    EXPECT_EQ(text.find("SECRET"), std::string_view::npos);
    EXPECT_EQ(text.find("/tmp"), std::string_view::npos);
  }
  for (const auto& [key, value] : trace.meta().properties) {
    EXPECT_EQ(value.find("SECRET"), std::string::npos);
  }
}

TEST(NsysImport, OldExportsAndTablesWithoutAKey) {
  const Trace trace = read(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (40,'a'),"
      "(7,'cudaMalloc_v3020');"
      "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"
      "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION', '2.9.1');" +
      cuda_tables() + call(1, 3, 0, kThread, 1, 7) + call(4, 5, 0, kThread, 2, 99));
  EXPECT_TRUE(slice_named(trace, "cudaMalloc").valid());
  EXPECT_EQ(losses(trace, "unknown_names"), 1u);
  EXPECT_EQ(trace.meta().properties[0].second, "\"2.9.1\"");
}

TEST(NsysImport, BadTimesAreCounted) {
  const Trace trace =
      read(strings("(1,'a')") + cuda_tables() + call(10, 5, 0, kThread, 1, 1) +
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, 5, 0, 1, 1, 1, 0, NULL),"
           "(9223372036854775807, 5, 0, 1, 1, 1, 0, NULL), ('text', 5, 0, 1, 1, 1, 0, NULL);");
  EXPECT_EQ(trace.slice_count(), 1u);
  EXPECT_EQ(losses(trace, "bad_time"), 3u);
  EXPECT_EQ(losses(trace, "negative_duration"), 1u);
}

TEST(NsysImport, OtherDatabasesAreRefusedWithTheReason) {
  const auto reason = [](const std::string& statements) {
    const Result<Trace> trace = test::try_import(sqlite_file(statements), import_nsys);
    return trace ? std::string() : trace.error().text();
  };
  EXPECT_NE(reason("CREATE TABLE notes (x)").find("its tables: notes"), std::string::npos);
  EXPECT_NE(reason("CREATE TABLE rocpd_string_1 (x)").find("rocpd"), std::string::npos);
  EXPECT_NE(reason("CREATE TABLE StringTable (x)").find("nvprof"), std::string::npos);
  // A view in the place of a table does nothing.
  EXPECT_NE(reason("CREATE VIEW StringIds AS SELECT 1").find("no table StringIds"),
            std::string::npos);
}

TEST(NsysImport, DamagedFilesGiveWhatCanBeRead) {
  std::string rows;
  for (int i = 0; i < 3000; ++i) rows += call(i, i + 1, 0, kThread, i, 1);
  const std::string bytes = sqlite_file(strings("(1,'a')") + cuda_tables() + rows);
  for (const std::size_t size : {std::size_t{20}, std::size_t{100}, std::size_t{5000},
                                 bytes.size() / 2, bytes.size() - 4096}) {
    const Result<Trace> trace = test::try_import(bytes.substr(0, size), import_nsys);
    if (!trace) {
      EXPECT_FALSE(trace.error().text().empty());
    } else {
      EXPECT_LT(trace->slice_count(), 3000u) << size;
      EXPECT_GT(losses(*trace, "broken_tables"), 0u) << size;
    }
  }
}

TEST(NsysImport, ReadsFilesPlainAndPacked) {
  const std::string bytes =
      sqlite_file(strings("(1,'a')") + cuda_tables() + call(1, 2, 0, kThread, 1, 1));
  const test::ScratchFolder folder;
  const std::string plain = folder.write("odd name%20#?.sqlite", bytes);
  const std::string packed = folder.write("x.sqlite.gz", test::gzip(bytes));
  for (const std::string& path : {plain, packed}) {
    const Result<Trace> trace = load_trace(path);
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_EQ(trace->slice_count(), 1u);
    EXPECT_EQ(trace->meta().format, "nsys");
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++files;
  }
  EXPECT_EQ(files, 2u);  // no journal, no copy
}

TEST(NsysImport, ReadsARealExport) {
  const std::string path =
      std::string(SONDE_SHARED_DATA) + "/nsys/nsys-2025.1_lighttransport-gemm_profile.sqlite";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->slice_count(), 21u);  // 3 calls, 18 stretches of overhead
  EXPECT_EQ(trace->slices().duration(slice_named(*trace, "cuStreamCreate")), 124820);
  EXPECT_EQ(trace->meta().devices.at(0).name, "NVIDIA GeForce RTX 5060 Ti");
  EXPECT_EQ(trace->meta().version, "2025.1.3.140");
  EXPECT_EQ(losses(*trace, "nsys_warnings"), 4u);
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
