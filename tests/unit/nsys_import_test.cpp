#include "import/nsys/nsys.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/nsys_tables.hpp"
#include "tests/support/sqlite_file.hpp"

namespace sonde {
namespace {

using test::call;
using test::cuda_tables;
using test::devices;
using test::kernel;
using test::kOther;
using test::kOtherThread;
using test::kProcess;
using test::kThread;
using test::losses;
using test::nsys;
using test::slice_named;
using test::sqlite_file;
using test::strings;

TEST(NsysImport, KernelsCallsAndTheirLinks) {
  const Trace trace =
      nsys(strings("(1,'cudaLaunchKernel_v7000'),(2,'cuLaunchKernel'),(3,'void gemm<float>(int)'),"
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
      nsys(strings("(1,'cudaLaunchKernel'),(3,'a'),(4,'b')") + cuda_tables() +
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
  const Trace trace = nsys(strings("(3,'a'),(4,'b')") + cuda_tables() +
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
  const Trace trace = nsys(
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

TEST(NsysImport, NeverCopiesWhatProgramsPrintedOrTheirEnvironment) {
  const Trace trace =
      nsys(strings("(1,'cudaMalloc'),(2,'SECRET=1'),(3,'/tmp/out.log')") + cuda_tables() +
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
  const Trace trace = nsys(
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
      nsys(strings("(1,'a')") + cuda_tables() + call(10, 5, 0, kThread, 1, 1) +
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

}  // namespace
}  // namespace sonde
