// How fast traces are written: rows a second into SQLite, beside the floor (the same number of rows
// of as many integers, through the same library with the same settings and no indices), and
// megabytes a second of the text formats. The trace is made up: a thread with nested operators,
// launches and kernels with arguments.

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "export/exporter.hpp"
#include "support/scratch_folder.hpp"
#include "trace/builder.hpp"

namespace sonde::bench {
namespace {

constexpr int kRounds = 5;

double seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// What a work took on the clock, which is what somebody waits for, and of the processors, which
// tells what else ran on the machine. The best round of each.
struct Times {
  double clock = 1e9;
  double processor = 1e9;
};

Trace made_up_trace(std::size_t steps) {
  TraceBuilder builder;
  builder.meta().format = "kineto";
  Track thread;
  thread.pid = 100;
  thread.tid = 101;
  thread.name = builder.intern("thread 101 (python3)");
  const TrackId host = builder.add_track(thread);
  Track stream;
  stream.type = TrackType::Stream;
  stream.tid = 7;
  stream.device = 0;
  const TrackId device = builder.add_track(stream);
  std::vector<StringId> names;
  for (int i = 0; i < 200; ++i)
    names.push_back(builder.intern("aten::operator_" + std::to_string(i)));
  const StringId launch_name = builder.intern("cudaLaunchKernel");
  const StringId kernel_name =
      builder.intern("void gemm_kernel<float, 128, 64>(float const*, float*)");
  const StringId key = builder.intern("Record function id");
  const InputsId inputs = builder.intern_inputs({builder.intern("[[64, 128], [128, 256]]"),
                                                 builder.intern("[\"float\", \"float\"]"),
                                                 {},
                                                 {}});
  std::vector<std::pair<SliceId, SliceId>> launches;
  std::vector<std::pair<SliceId, SliceId>> operators;
  Nanos time = 0;
  for (std::size_t i = 0; i < steps; ++i, time += 10'000) {
    OperatorRow row;
    row.external_id = static_cast<std::int64_t>(i) + 1;
    row.inputs = inputs;
    const SliceId outer =
        builder.add_slice(time, 9'000, host, names[i % names.size()], SliceKind::Operator);
    builder.add_operator(outer, row);
    builder.add_argument(SliceArg(outer, key, std::int64_t{0}));
    const SliceId inner = builder.add_slice(time + 1'000, 6'000, host,
                                            names[(i * 7 + 1) % names.size()], SliceKind::Operator);
    builder.add_operator(inner, row);
    builder.add_argument(SliceArg(inner, key, std::int64_t{0}));
    const SliceId launch =
        builder.add_slice(time + 2'000, 3'000, host, launch_name, SliceKind::Runtime);
    builder.add_launch(launch, {static_cast<std::int64_t>(i) + 1, row.external_id, 211});
    const SliceId kernel =
        builder.add_slice(time + 8'000, 5'000, device, kernel_name, SliceKind::Kernel);
    DeviceRow work;
    work.correlation = static_cast<std::int64_t>(i) + 1;
    work.stream = 7;
    work.device = 0;
    work.grid = {64, 1, 1};
    work.block = {128, 1, 1};
    builder.add_device_work(kernel, work);
    operators.emplace_back(inner, launch);
    launches.emplace_back(launch, kernel);
  }
  builder.nest(1);
  for (const auto& [from, to] : launches) builder.add_launch_link(from, to);
  for (const auto& [from, to] : operators) builder.add_operator_link(from, to);
  return builder.finish();
}

std::uint64_t row_count(const Trace& trace) {
  return trace.slice_count() + trace.operators().size() + trace.launches().size() +
         trace.device_work().size() + trace.arguments().size() + trace.launch_to_device().size() +
         trace.operator_to_launch().size() + trace.strings().size();
}

template <class Work>
void measure(Times& best, Work work) {
  const double start = seconds(CLOCK_MONOTONIC);
  const double busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
  work();
  best.clock = std::min(best.clock, seconds(CLOCK_MONOTONIC) - start);
  best.processor = std::min(best.processor, seconds(CLOCK_PROCESS_CPUTIME_ID) - busy);
}

// Rows of eight integers, as a slice has them.
void write_floor(const std::string& path, std::uint64_t rows) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK) std::abort();
  sqlite3_exec(
      handle,
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA page_size = 16384; PRAGMA cache_size = -65536;"
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER, d INTEGER, e "
      "INTEGER, "
      "f INTEGER, g INTEGER); BEGIN;",
      nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(handle, "INSERT INTO t VALUES(?,?,?,?,?,?,?,?)", -1, &insert, nullptr);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const std::int64_t values[8] = {n, n * 1000, 900, n % 200, 0, n / 2, 1, 2};
    for (int c = 0; c < 8; ++c) sqlite3_bind_int64(insert, c + 1, values[c]);
    if (sqlite3_step(insert) != SQLITE_DONE) std::abort();
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
}

// Counts and forgets.
class NullSink : public ByteSink {
 public:
  std::optional<Error> write(std::string_view bytes) override {
    count += bytes.size();
    return std::nullopt;
  }
  std::uint64_t count = 0;
};

void run(std::size_t steps) {
  const Trace trace = made_up_trace(steps);
  const ScratchFolder folder;
  if (folder.path().empty()) std::abort();
  const std::string path = folder.path() + "/x.sqlite";
  const std::uint64_t rows = row_count(trace);
  fmt::print("{} slices, {} rows; best of {} rounds\n", trace.slice_count(), rows, kRounds);
  // In turns: what else the machine does meets both.
  Times floor;
  Times sqlite;
  for (int i = 0; i < kRounds; ++i) {
    std::filesystem::remove(path);
    measure(floor, [&] { write_floor(path, rows); });
    std::filesystem::remove(path);
    measure(sqlite, [&] {
      if (!find_exporter("sqlite")->write_file({trace, "bench"}, path).ok()) std::abort();
    });
  }
  const double million = static_cast<double>(rows) / 1e6;
  fmt::print("{:11} {:>24} {:>24}\n", "M rows/s", "on the clock", "of processor time");
  fmt::print("{:11} {:24.2f} {:24.2f}   with indices\n", "sqlite", million / sqlite.clock,
             million / sqlite.processor);
  fmt::print("{:11} {:24.2f} {:24.2f}   integers, no index\n", "floor", million / floor.clock,
             million / floor.processor);
  for (const Exporter& exporter : exporters()) {
    if (exporter.write == nullptr) continue;
    std::uint64_t bytes = 0;
    Times time;
    bool fits = true;  // some formats have nothing to tell of a timeline
    for (int i = 0; i < kRounds && fits; ++i) {
      measure(time, [&] {
        NullSink sink;
        BufferedOutput out(sink);
        fits = exporter.write({trace, "bench"}, out).ok();
        if (out.finish()) std::abort();
        bytes = sink.count;
      });
    }
    if (!fits) continue;
    fmt::print("{:11} {:8.2f} M slices/s {:8.0f} MB/s on the clock\n", exporter.name,
               static_cast<double>(trace.slice_count()) / 1e6 / time.clock,
               static_cast<double>(bytes) / 1e6 / time.clock);
  }
}

}  // namespace
}  // namespace sonde::bench

int main(int argc, char** argv) {
  sonde::bench::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000);
}
