// Random files of several formats: a piece of one is the same, whether the file is read whole and
// filtered, or only the piece and what belongs to it is ever in memory.

#include <gtest/gtest.h>

#include <random>

#include "tests/support/files.hpp"
#include "tests/support/load.hpp"
#include "tests/support/random_events.hpp"
#include "tests/support/same_piece.hpp"
#include "tests/support/sonde_file.hpp"
#include "tests/support/sqlite_file.hpp"

namespace sonde {
namespace {

using test::Compared;
using test::expect_same_piece;
using test::load_or_fail;
using test::some_pieces;
using test::Wanted;

using test::RandomEvents;

TEST(PieceOfRandomFile, TraceEventsAreCutTheSameBothWays) {
  const test::ScratchFolder folder;
  int whole = 0;
  int all = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    RandomEvents random(seed);
    const bool kineto = seed % 3 != 0;
    const std::string path =
        folder.write("random.json", kineto ? random.kineto() : random.chrome());
    const Trace trace = load_or_fail(path);
    EXPECT_EQ(trace.meta().format, kineto ? "kineto" : "chrome");
    for (const Wanted& wanted : some_pieces()) {
      const Compared compared =
          expect_same_piece(path, trace, wanted, "seed " + std::to_string(seed));
      whole += compared.read_whole;
      ++all;
    }
    if (HasFailure()) break;
  }
  EXPECT_EQ(whole, 0) << "of " << all;
}

TEST(PieceOfRandomFile, RunsOfSondeAreCutTheSameBothWays) {
  using file::RecordType;
  const test::ScratchFolder folder;
  constexpr std::uint64_t kAt = test::SondeFile::kFirstTick;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t limit) {
      return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random);
    };
    test::SondeFile out;
    for (std::uint32_t thread = 7; thread < 10; ++thread) {
      out.chunk(thread);
      for (std::uint64_t i = 0; i < 60; ++i) {
        const std::uint64_t start = below(600);
        const std::uint64_t end = start + (below(4) == 0 ? below(300) : below(20));
        const std::uint64_t id = 1 + below(30);
        switch (below(10)) {
          case 0:
            out.slice("Step", start, start + 90, SliceKind::Step, i);
            break;
          case 1:
          case 2:
            out.slice("launch", start, end, SliceKind::Runtime, id);
            break;
          case 3:
            out.slice("op", start, end, SliceKind::Operator, below(3) == 0 ? id + 100 : 0, "part");
            break;
          case 4:
          case 5:
            out.record(RecordType::Place, below(2), 0, 0);
            out.record(RecordType::DeviceSlice, kAt + start, kAt + end, id + 50, "kernel", {},
                       static_cast<std::uint8_t>(SliceKind::Kernel));
            break;
          case 6:
            out.record(RecordType::Link, 0, below(2) == 0 ? id : id + 100,
                       below(3) == 0 ? id + 100 : id + 50);
            break;
          case 7:
            out.record(below(2) == 0 ? RecordType::AsyncBegin : RecordType::AsyncEnd, kAt + start,
                       id % 3, 0, "request", "net");
            break;
          case 8:
            out.record(RecordType::Counter, kAt + start, i, 0, "queue", "data", 0);
            break;
          default:
            out.record(RecordType::Allocation, kAt + start, 0x1000 + id, 64 * (1 + below(9)),
                       "weights", "pool", 1 << 4 | 2);
        }
      }
    }
    const std::string path = folder.write("random.sonde", out.bytes());
    const Trace trace = load_or_fail(path);
    for (const Wanted& wanted : some_pieces())
      EXPECT_FALSE(
          expect_same_piece(path, trace, wanted, "run " + std::to_string(seed)).read_whole);
    if (HasFailure()) break;
  }
}

TEST(PieceOfRandomFile, ReportsOfNsightSystemsAreCutTheSameBothWays) {
  const test::ScratchFolder folder;
  for (std::uint32_t seed = 1; seed <= 15; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int limit) {
      return std::uniform_int_distribution<int>(0, limit - 1)(random);
    };
    std::string sql =
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
        "INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'gemm'),(3,'poll'),(4,'f');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
        " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, callchainId INTEGER);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
        " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
        " demangledName INTEGER);"
        "CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, stackDepth INTEGER);"
        "INSERT INTO CUDA_CALLCHAINS VALUES (1,4,0),(1,3,1),(2,3,0);"
        "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
        " globalTid INTEGER);"
        "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);"
        "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, globalTid INTEGER);"
        "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, stackDepth INTEGER);"
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId"
        " INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);"
        "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid"
        " INTEGER);";
    const auto insert = [&](const std::string& table, const std::vector<std::string>& values) {
      sql += "INSERT INTO " + table + " VALUES (";
      for (std::size_t i = 0; i < values.size(); ++i) sql += (i ? "," : "") + values[i];
      sql += ");";
    };
    for (int i = 0; i < 250; ++i) {
      const int at = below(600);
      const std::string start = std::to_string(at);
      const std::string end = std::to_string(at + (below(4) == 0 ? below(300) : below(20)));
      const std::string pid = std::to_string((1LL << 48) + ((10LL + below(2)) << 24));
      const std::string tid = std::to_string(std::stoll(pid) + 11);
      const std::string id = std::to_string(below(40));
      switch (below(8)) {
        case 0:
          insert("CUPTI_ACTIVITY_KIND_RUNTIME",
                 {start, end, "0", tid, id, "1", std::to_string(below(4))});
          break;
        case 1:
          insert("CUPTI_ACTIVITY_KIND_KERNEL", {start, end, "0", "1", "7", id, pid, "2"});
          break;
        case 2:
          insert("NVTX_EVENTS", {start, below(9) == 0 ? "NULL" : end, "59",
                                 below(2) == 0 ? "'step " + std::to_string(i) + "'"
                                               : "'aten::add, seq = " + id + ", op_id = 3'",
                                 tid});
          break;
        case 3:
          insert("OSRT_API", {start, end, tid, "3"});
          break;
        case 4:
          insert("COMPOSITE_EVENTS", {std::to_string(i), start, tid});
          insert("SAMPLING_CALLCHAINS", {std::to_string(i), "4", "0"});
          break;
        case 5:
          insert("CUDA_GPU_MEMORY_USAGE_EVENTS",
                 {start, pid, "0", "16", "512", "2", std::to_string(below(2))});
          break;
        case 6:
          insert("SCHED_EVENTS", {start, "1", std::to_string(below(2)), tid});
          break;
        default:
          insert("NVTX_EVENTS", {start, "NULL", "34", "'mark'", tid});
      }
    }
    const std::string path = folder.write("random.sqlite", test::sqlite_file(sql));
    const Trace trace = load_or_fail(path);
    for (const Wanted& wanted : some_pieces())
      EXPECT_FALSE(
          expect_same_piece(path, trace, wanted, "nsys " + std::to_string(seed)).read_whole);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace sonde
