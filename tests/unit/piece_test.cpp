// A piece of a file is the same, whether the file is read whole and filtered, or only the piece and
// what belongs to it is ever in memory.

#include "import/piece.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/rich_trace.hpp"
#include "tests/support/same_trace.hpp"
#include "tests/support/sonde_file.hpp"
#include "tests/support/sqlite_file.hpp"

namespace sonde {
namespace {

// What to cut out, in parts of the trace's length or by its steps.
struct Wanted {
  double from = 0;
  double to = 0;  // 0: no window
  bool steps = false;
  std::vector<SliceKind> kinds;
  bool points = true;
};

TraceFilter filter_of(const Wanted& wanted, const std::vector<Selection::Step>& steps,
                      Nanos length) {
  TraceFilter filter;
  for (const SliceKind kind : wanted.kinds) filter.kinds.set(static_cast<std::size_t>(kind));
  filter.markers = filter.counters = filter.allocations = filter.samples = wanted.points;
  if (wanted.to > 0)
    filter.windows.push_back({static_cast<Nanos>(wanted.from * static_cast<double>(length)),
                              static_cast<Nanos>(wanted.to * static_cast<double>(length))});
  if (wanted.steps) {
    for (std::size_t i = 1; i < steps.size(); i += 2)
      filter.windows.push_back({steps[i].start, steps[i].end});
    if (filter.windows.empty()) filter.windows.push_back({length / 3, length / 2});
    filter.device_work_by_launch = true;
  }
  return filter;
}

// In the order of time: slices that end first are read first.
std::vector<std::string> lines_of(const std::vector<Selection::Step>& steps) {
  std::vector<std::string> lines;
  for (const Selection::Step& step : steps)
    lines.push_back(std::to_string(step.start) + "-" + std::to_string(step.end) + " " + step.name);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string text_of(const Wanted& wanted) {
  std::string text = std::to_string(wanted.from) + " to " + std::to_string(wanted.to);
  if (wanted.steps) text += ", steps";
  for (const SliceKind kind : wanted.kinds) text += ", " + std::string(kind_name(kind));
  return text;
}

struct Compared {
  bool read_whole = true;
  std::size_t slices = 0;
};

// Both ways; the exports must be the same to the byte.
Compared expect_same_piece(const std::string& path, const Trace& whole, const Wanted& wanted,
                           const std::string& what) {
  Compared out;
  const Nanos length = whole.span_end();
  std::vector<Selection::Step> steps;
  for (const SliceId slice : all_slices(whole)) {
    if (whole.slices().kind(slice) == SliceKind::Step)
      steps.push_back(
          {std::string(whole.name(slice)), whole.slices().start(slice), whole.slices().end(slice)});
  }
  const Trace expected = filter_trace(whole, filter_of(wanted, steps, length));
  const auto choose = [&](const std::vector<Selection::Step>& found) -> Result<TraceFilter> {
    EXPECT_EQ(lines_of(found), lines_of(steps)) << what;
    return filter_of(wanted, steps, length);
  };
  const Result<Piece> piece = load_piece(path, choose);
  if (!piece) {
    ADD_FAILURE() << what << ": " << piece.error().text();
    return out;
  }
  const std::string where = what + ", " + text_of(wanted);
  EXPECT_EQ(test::difference(expected, piece->trace), "") << where;
  EXPECT_TRUE(test::export_text("chrome", expected).text ==
              test::export_text("chrome", piece->trace).text)
      << where;
  out.read_whole = piece->read_whole;
  out.slices = expected.slice_count();
  return out;
}

std::vector<Wanted> some_pieces() {
  return {{0.4, 0.45, false, {}, true},
          {0, 0.3, false, {}, true},
          {0.7, 2, false, {}, true},
          {0, 0, true, {}, true},
          {0, 0, true, {SliceKind::Kernel}, false},
          {0.2, 0.6, false, {SliceKind::Operator, SliceKind::Runtime}, false},
          {0, 0, false, {SliceKind::Kernel, SliceKind::Memcpy}, false},
          {0, 0, false, {SliceKind::Runtime, SliceKind::Kernel}, true}};
}

// Events at random: ids and times from small ranges, so that borders and doubles are common.
class RandomEvents {
 public:
  explicit RandomEvents(std::uint32_t seed) : random_(seed) {}

  std::string kineto() {
    std::string out = "{\"schemaVersion\": 1, \"with_stack\": 1, \"traceEvents\": [\n";
    events_ = &out;
    names();
    for (int i = 0; i < 6; ++i)
      slice("user_annotation", "ProfilerStep#" + std::to_string(i), 1, i * 100, 95, "");
    for (int i = 0; i < 300; ++i) any_event();
    return finish(out);
  }

  std::string chrome() {
    std::string out = "[\n";
    events_ = &out;
    names();
    for (int i = 0; i < 200; ++i) {
      switch (below(6)) {
        case 0:
        case 1:
          slice(below(2) == 0 ? "a" : "b", "f" + number(5), below(3), below(600), length(), "");
          break;
        case 2:
          flow();
          break;
        case 3:
          half("B", "E");
          break;
        case 4:
          half("b", "e");
          break;
        default:
          point();
      }
    }
    return finish(out);
  }

 private:
  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  std::string number(int limit) { return std::to_string(below(limit)); }
  int length() { return below(4) == 0 ? below(300) : below(4) == 0 ? 0 : below(30); }

  void add(const std::string& event) { *events_ += "{" + event + "},\n"; }
  std::string finish(std::string& out) {
    out += "{\"ph\": \"i\", \"name\": \"end\", \"ts\": 1, \"pid\": 1, \"tid\": 1}]";
    if (out[0] == '{') out += "}";
    return out;
  }
  void names() {
    add(R"("ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"})");
    add(R"("ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"})");
    add(R"("ph": "M", "name": "process_sort_index", "pid": 1, "tid": 0, "args": {"sort_index": 3})");
  }
  std::string place(int tid, int time) {
    return "\"pid\": 1, \"tid\": " + std::to_string(tid) + ", \"ts\": " + std::to_string(time) +
           ".000";
  }
  void slice(const std::string& category, const std::string& name, int tid, int time, int duration,
             const std::string& args) {
    add("\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name + "\", " +
        place(tid, time) + ", \"dur\": " + std::to_string(duration) + ", \"args\": {" + args + "}");
    last_tid_ = tid;
    last_time_ = time;
  }
  void flow() {
    // Right behind its slice, or anywhere.
    const bool beside = below(2) == 0;
    const char* phases[] = {"s", "t", "f"};
    add("\"ph\": \"" + std::string(phases[below(3)]) + "\", \"cat\": \"" +
        (below(3) == 0 ? "other" : "fwdbwd") + "\", \"name\": \"arrow\", \"id\": " + number(12) +
        ", " + (beside ? place(last_tid_, last_time_) : place(below(3), below(650))));
  }
  // Halves come in the order of time.
  void half(const std::string& begin, const std::string& end) {
    half_time_ += below(8);
    const bool ends = below(2) == 0;
    add("\"ph\": \"" + (ends ? end : begin) + "\", \"cat\": \"h\", \"id\": 7, \"name\": \"half" +
        number(3) + "\", " + place(5 + below(2), half_time_) + ", \"args\": {\"k\": " + number(9) +
        "}");
  }
  void point() {
    const int what = below(3);
    if (what == 0)
      add("\"ph\": \"i\", \"name\": \"mark\", " + place(below(3), below(650)) +
          ", \"args\": {\"x\": 1}");
    else if (what == 1)
      add("\"ph\": \"C\", \"name\": \"count\", " + place(0, below(650)) +
          ", \"args\": {\"v\": " + number(50) + "}");
    else
      add("\"ph\": \"i\", \"name\": \"[memory]\", " + place(1, below(650)) +
          ", \"args\": {\"Bytes\": " + number(512) + ", \"Addr\": 16, \"Device Type\": 0}");
  }
  void any_event() {
    const std::string external = "\"External id\": " + std::to_string(1000 + below(60));
    const std::string correlation = "\"correlation\": " + number(40);
    switch (below(9)) {
      case 0:
      case 1:
        slice("cpu_op", "aten::op" + number(6), 1 + below(2), below(600), length(),
              external + ", \"Sequence number\": " + number(20) +
                  ", \"Fwd thread id\": " + number(2) + ", \"Input Dims\": [[" + number(4) + "]]");
        break;
      case 2:
        slice("cuda_runtime", "cudaLaunchKernel", 1 + below(2), below(600), length(),
              correlation + ", " + external);
        break;
      case 3:
      case 4:
        slice(below(4) == 0 ? "gpu_memcpy" : "kernel", "kernel" + number(4), 7, below(650),
              length(), correlation + ", \"device\": 0, \"stream\": 7, \"grid\": [1, 2, 3]");
        break;
      case 5:
        slice("python_function", "file.py(1): f" + number(3), 1, below(600), length() * 2,
              "\"Python id\": " + number(99));
        break;
      case 6:
        flow();
        break;
      case 7:
        below(3) == 0 ? half("B", "E") : slice("strange", "s", 2, below(600), length(), "\"a\": 1");
        break;
      default:
        point();
    }
  }

  std::mt19937 random_;
  std::string* events_ = nullptr;
  int last_tid_ = 1;
  int last_time_ = 0;
  int half_time_ = 0;
};

Trace load_or_fail(const std::string& path) {
  Result<Trace> trace = load_trace(path);
  if (trace) return std::move(*trace);
  ADD_FAILURE() << trace.error().text();
  return TraceBuilder().finish();
}

TEST(Piece, RandomTraceEventsAreCutTheSameBothWays) {
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

TEST(Piece, FilesOfEveryFormatAreCutTheSameBothWays) {
  namespace fs = std::filesystem;
  std::map<std::string, bool> whole;  // by format
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(SONDE_TEST_DATA)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const Result<Trace> trace = load_trace(path);
    if (!trace) continue;
    ++files;
    for (const Wanted& wanted : some_pieces()) {
      const Compared compared = expect_same_piece(path, *trace, wanted, path);
      bool& known = whole.try_emplace(trace->meta().format, false).first->second;
      known = known || compared.read_whole;
    }
  }
  EXPECT_GT(files, 20u);
  EXPECT_FALSE(whole.at("kineto"));
  EXPECT_FALSE(whole.at("xplane"));
}

// Everything that Sonde writes and reads again, with all sorts of links.
TEST(Piece, RichTracesAreCutTheSameBothWays) {
  const test::ScratchFolder folder;
  for (const char* format : {"chrome", "perfetto"}) {
    const std::string ending = std::string(format) == "chrome" ? ".json" : ".pftrace";
    for (const std::string name :
         {"ddp_rank0.pt.trace.json.gz", "resnet50_stack.pt.trace.json.gz"}) {
      const Trace original = load_or_fail(std::string(SONDE_TEST_DATA) + "/" + name);
      const std::string path =
          folder.write("data" + ending, test::export_text(format, original).text);
      const Trace trace = load_or_fail(path);
      for (const Wanted& wanted : some_pieces()) {
        const Compared compared = expect_same_piece(path, trace, wanted, name + ending);
        EXPECT_FALSE(compared.read_whole) << name << ending;
      }
    }
    const std::string path =
        folder.write("rich" + ending, test::export_text(format, test::rich_trace()).text);
    const Trace trace = load_or_fail(path);
    for (const Wanted& wanted : some_pieces())
      expect_same_piece(path, trace, wanted, "rich" + ending);
  }
}

TEST(Piece, RunsOfSondeAreCutTheSameBothWays) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("run.sonde", test::rich_sonde_file());
  const Trace trace = load_or_fail(path);
  for (const Wanted& wanted : some_pieces())
    EXPECT_FALSE(expect_same_piece(path, trace, wanted, "run").read_whole);
}

TEST(Piece, RandomRunsOfSondeAreCutTheSameBothWays) {
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

TEST(Piece, RandomReportsOfNsightSystemsAreCutTheSameBothWays) {
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

TEST(Piece, SharedFilesAreCutTheSameBothWays) {
  namespace fs = std::filesystem;
  if (!fs::exists(SONDE_SHARED_DATA)) GTEST_SKIP() << "no shared data";
  constexpr std::uintmax_t kMostBytes = 1'000'000;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(SONDE_SHARED_DATA)) {
    if (!entry.is_regular_file() || entry.file_size() > kMostBytes) continue;
    const std::string path = entry.path().string();
    const Result<Trace> trace = load_trace(path);
    if (!trace || trace->slice_count() == 0) continue;
    for (const Wanted& wanted : some_pieces()) expect_same_piece(path, *trace, wanted, path);
  }
}

// What the fuzzers begin with: damage of every sort.
TEST(Piece, DamagedFilesAreCutTheSameBothWays) {
  namespace fs = std::filesystem;
  std::size_t files = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(std::string(SONDE_TEST_DATA) + "/../fuzz/corpus")) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const Result<Trace> trace = load_trace(path);
    if (!trace) continue;
    ++files;
    for (const Wanted& wanted : some_pieces()) expect_same_piece(path, *trace, wanted, path);
  }
  EXPECT_GT(files, 50u);
}

TEST(Piece, HalvesOutOfOrderAreReadWhole) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("halves.json", R"([
    {"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 10},
    {"ph": "E", "name": "a", "pid": 1, "tid": 1, "ts": 30},
    {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 5},
    {"ph": "E", "name": "b", "pid": 1, "tid": 1, "ts": 7}])");
  const Trace trace = load_or_fail(path);
  EXPECT_TRUE(expect_same_piece(path, trace, {0.1, 0.5, false, {}, true}, "halves").read_whole);
}

TEST(Piece, AFileOfAnotherRankIsNotReadFurther) {
  const std::string path = std::string(SONDE_TEST_DATA) + "/ddp_rank1.pt.trace.json.gz";
  const auto everything = [](const std::vector<Selection::Step>&) -> Result<TraceFilter> {
    ADD_FAILURE() << "nobody wants it";
    return TraceFilter();
  };
  const Result<Piece> piece =
      load_piece(path, everything, {}, [](const TraceMeta& meta) { return meta.rank == 0; });
  ASSERT_TRUE(piece.ok());
  EXPECT_FALSE(piece->wanted);
  EXPECT_EQ(piece->trace.meta().rank, 1);
  EXPECT_EQ(piece->trace.slice_count(), 0u);
}

}  // namespace
}  // namespace sonde
