// The device summary of a run, as Paddle prints it.

#include <gtest/gtest.h>

#include "report/views/devices.hpp"
#include "tests/support/counters.hpp"
#include "trace/builder.hpp"
#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

constexpr Nanos kMicro = 1000;
constexpr Nanos kElapsed = 3'000'000 * kMicro;

// What the agent of `sonde run` leaves: totals at the start and at the end.
Trace system_trace(double process_percent, double machine_percent) {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  const auto add = [&](Nanos time, std::string_view domain, std::string_view name, double value) {
    test::add_counter(builder, time, domain, name, value);
  };
  for (const Nanos time : {Nanos{0}, kElapsed}) {
    const auto part = static_cast<double>(time) / 100;
    add(time, names::kProcesses, names::kCpuTime, process_percent * part);
    add(time, names::kProcesses, names::kResident, 1 << 20);
    add(time, names::kMachine, names::kBusyTime, machine_percent * part * 8);
    add(time, names::kMachine, names::kTotalTime, 100 * part * 8);
  }
  builder.nest(1);
  return builder.finish();
}

struct Work {
  SliceKind kind;
  std::int32_t device;
  Nanos start;
  Nanos end;
};

// All times in microseconds.
Trace program_trace(const std::vector<std::pair<Nanos, Nanos>>& steps,
                    const std::vector<Work>& works) {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  Track thread;
  thread.tid = 1;
  const TrackId host = builder.add_track(thread);
  for (const auto& [start, end] : steps) {
    builder.add_slice(start * kMicro, (end - start) * kMicro, host, builder.intern("step#0"),
                      SliceKind::Step);
  }
  for (const Work& work : works) {
    Track stream;
    stream.type = TrackType::Stream;
    stream.device = work.device;
    const SliceId slice =
        builder.add_slice(work.start * kMicro, (work.end - work.start) * kMicro,
                          builder.add_track(stream), builder.intern("work"), work.kind);
    DeviceRow row;
    row.device = work.device;
    row.stream = 0;
    builder.add_device_work(slice, row);
  }
  builder.nest(1);
  return builder.finish();
}

std::vector<std::vector<Cell>> device_summary(Trace system, Trace program) {
  TraceSet traces;
  traces.push_back({".", "program", "r/program.sonde", std::move(program)});
  traces.push_back({".", "system", "r/system.sonde", std::move(system)});
  for (const Block& block : devices_view(traces, ReportRequest()).blocks) {
    if (block.id == "utilization") return std::get<Table>(block.content).rows;
  }
  return {};
}

void expect_row(const std::vector<Cell>& row, const std::string& device, double percent) {
  EXPECT_EQ(std::get<std::string>(row.at(0)), device);
  EXPECT_NEAR(std::get<double>(row.at(1)), percent, 0.005) << device;
}

// The numbers of a real summary: 1856.84 ms of kernels in 2670.22 ms of steps.
TEST(DeviceSummary, CountsKernelsOverTheTimeOfTheSteps) {
  const auto rows =
      device_summary(system_trace(106.03, 6.57),
                     program_trace({{0, 1'000'000}, {1'000'000, 2'670'220}},
                                   {{SliceKind::Kernel, 0, 0, 1'000'000},
                                    {SliceKind::Kernel, 0, 500'000, 1'856'840},  // overlap: once
                                    {SliceKind::Memcpy, 0, 1'900'000, 2'500'000},
                                    {SliceKind::Kernel, 2, 2'000'000, 2'267'022}}));
  ASSERT_EQ(rows.size(), 4u);
  expect_row(rows[0], "CPU (processes)", 106.03);
  expect_row(rows[1], "CPU (system)", 6.57);
  expect_row(rows[2], "GPU 0", 69.54);
  expect_row(rows[3], "GPU 2", 10);
}

TEST(DeviceSummary, CountsStepsOnceAndNotTheTimeBetweenThem) {
  const auto rows = device_summary(
      system_trace(50, 1),
      program_trace({{0, 400}, {200, 500}, {1000, 1500}}, {{SliceKind::Kernel, 0, 100, 350}}));
  ASSERT_EQ(rows.size(), 3u);
  expect_row(rows[2], "GPU 0", 25);
}

TEST(DeviceSummary, WithoutStepsTheWholeRunCounts) {
  const auto rows = device_summary(system_trace(50, 1),
                                   program_trace({}, {{SliceKind::Kernel, 1, 0, 1'500'000}}));
  ASSERT_EQ(rows.size(), 3u);
  expect_row(rows[2], "GPU 1", 50);
}

}  // namespace
}  // namespace sonde
