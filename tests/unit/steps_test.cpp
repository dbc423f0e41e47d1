#include "analysis/steps.hpp"

#include <gtest/gtest.h>

#include <random>

#include "analysis/gpu_utilization.hpp"
#include "tests/unit/trace_sketch.hpp"

namespace sonde {
namespace {

constexpr Nanos kMicro = 1000;

StepBreakdown breakdown_of(const Trace& trace) { return break_down_steps(trace, OpTree(trace)); }

TEST(Steps, EachMomentCountsOnce) {
  TraceSketch sketch;
  sketch.step(7, 0, 100);
  sketch.op("enumerate(DataLoader)#_Iter.__next__", 0, 20, 1);
  sketch.op("aten::mm", 20, 60, 2);
  sketch.call(30, 40, 1, 2);
  sketch.kernel("k", 35, 50, 1);
  sketch.kernel("Memcpy HtoD", 45, 55, 2, SliceKind::Memcpy);
  const Trace trace = sketch.finish();
  const StepBreakdown steps = breakdown_of(trace);
  ASSERT_EQ(steps.steps.size(), 1u);
  const Step& step = steps.steps[0];
  EXPECT_EQ(step.name, "7");
  EXPECT_EQ(step.cost[StepRole::Kernel], 15 * kMicro);
  EXPECT_EQ(step.cost[StepRole::Memcpy], 5 * kMicro);
  EXPECT_EQ(step.cost[StepRole::Memset], 0);
  EXPECT_EQ(step.cost[StepRole::Runtime], 5 * kMicro);
  EXPECT_EQ(step.cost[StepRole::DataLoader], 20 * kMicro);
  EXPECT_EQ(step.cost[StepRole::CpuOp], 15 * kMicro);
  EXPECT_EQ(step.cost[StepRole::Other], 40 * kMicro);
  EXPECT_EQ(step.total(), 100 * kMicro);
}

TEST(Steps, AreStretchedOverTheirDeviceWork) {
  TraceSketch sketch;
  sketch.kernel("from before", 0, 15, 90);
  sketch.step(1, 10, 100);
  sketch.step(2, 100, 200);
  sketch.call(20, 21, 1, 0);
  sketch.call(120, 121, 2, 0);
  sketch.kernel("k", 30, 130, 1);
  sketch.kernel("k", 140, 180, 2);
  const Trace trace = sketch.finish();
  const StepBreakdown steps = breakdown_of(trace);
  ASSERT_EQ(steps.steps.size(), 2u);
  EXPECT_EQ(steps.steps[0].span, (Interval{15 * kMicro, 130 * kMicro}));
  EXPECT_EQ(steps.steps[1].span, (Interval{130 * kMicro, 200 * kMicro}));
  EXPECT_EQ(steps.steps[1].recorded, (Interval{100 * kMicro, 200 * kMicro}));
  EXPECT_EQ(steps.window(), (Interval{15 * kMicro, 200 * kMicro}));
}

TEST(Steps, LastOnesWithoutTheirDeviceWorkGo) {
  const auto count = [](int kernels_in_last) {
    TraceSketch sketch;
    int id = 1;
    for (int s = 0; s < 3; ++s) {
      sketch.step(s, s * 100, s * 100 + 100);
      for (int k = 0; k < (s == 2 ? kernels_in_last : 5); ++k, ++id) {
        sketch.call(s * 100 + k, s * 100 + k + 1, id, 0);
        sketch.kernel("k", s * 100 + 10 + k, s * 100 + 11 + k, id);
      }
    }
    const Trace trace = sketch.finish();
    const StepBreakdown steps = breakdown_of(trace);
    EXPECT_EQ(steps.steps.size() + steps.dropped, 3u);
    return steps.steps.size();
  };
  EXPECT_EQ(count(5), 3u);
  EXPECT_EQ(count(4), 3u);  // 80 % are enough
  EXPECT_EQ(count(3), 2u);
  EXPECT_EQ(count(0), 2u);
}

TEST(Steps, WithoutAnyTheRecordingIsOne) {
  TraceSketch sketch;
  sketch.op("a", 10, 20, 1);
  sketch.op("b", 30, 50, 2, 2);
  const Trace trace = sketch.finish();
  const StepBreakdown steps = breakdown_of(trace);
  ASSERT_EQ(steps.steps.size(), 1u);
  EXPECT_FALSE(steps.has_steps);
  EXPECT_FALSE(steps.has_device);
  EXPECT_EQ(steps.steps[0].name, "0");
  EXPECT_EQ(steps.steps[0].span, (Interval{10 * kMicro, 50 * kMicro}));
  EXPECT_EQ(steps.average_us(StepRole::CpuOp), 30);
  EXPECT_EQ(steps.average_total, 40 * kMicro);
}

TEST(Steps, AnEmptyTraceHasNone) {
  TraceBuilder builder;
  builder.nest(1);
  const Trace trace = builder.finish();
  const StepBreakdown steps = breakdown_of(trace);
  EXPECT_TRUE(steps.steps.empty());
  EXPECT_EQ(steps.average_total_us(), 0);
}

TEST(Steps, CollectiveKernelsAreCommunication) {
  TraceSketch sketch;
  sketch.step(1, 0, 100);
  sketch.kernel("gemm", 10, 50, 1);
  sketch.kernel("ncclDevKernel_AllReduce", 40, 70, 2);
  sketch.kernel("NCCL upper case", 80, 90, 3);
  sketch.kernel("not_nccl", 95, 96, 4);
  const Trace trace = sketch.finish();
  const Step step = breakdown_of(trace).steps.at(0);
  EXPECT_EQ(step.computation, 41 * kMicro);
  EXPECT_EQ(step.communication, 40 * kMicro);
  EXPECT_EQ(step.overlap, 10 * kMicro);
  EXPECT_EQ(step.cost[StepRole::Communication], 30 * kMicro);
}

TEST(Steps, CostsAddUpToTheTotal) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    TraceSketch sketch;
    for (int s = 0; s < 3; ++s) sketch.step(s, 10 + s * 100, 105 + s * 100);
    for (int i = 1; i < 40; ++i) {
      const auto start = static_cast<Nanos>(random() % 300);
      sketch.op("op", start, start + static_cast<Nanos>(random() % 30), i);
      sketch.call(start + 1, start + 3, i, i);
      if (random() % 2)
        sketch.kernel("k", start + 5, start + 5 + static_cast<Nanos>(random() % 30), i);
    }
    const Trace trace = sketch.finish();
    for (const Step& step : breakdown_of(trace).steps) {
      Nanos sum = 0;
      for (const Nanos cost : step.cost) sum += cost;
      ASSERT_EQ(sum, step.total());
    }
  }
}

TEST(GpuUtilization, CountsTheTimeWithAKernel) {
  TraceSketch sketch;
  sketch.kernel("a", 10, 30, 1);
  sketch.kernel("b", 20, 40, 2);
  sketch.kernel("c", 90, 150, 3);
  const Trace trace = sketch.finish();
  const std::vector<GpuUtilization> gpus = gpu_utilization(trace, {0, 100 * kMicro});
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].utilization, 0.4);
  EXPECT_EQ(gpus[0].sm_efficiency, 0);

  const std::vector<UtilizationSeries> series = utilization_series(trace, {0, 105 * kMicro});
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0].bucket, 10 * kMicro);
  EXPECT_EQ(series[0].share, (std::vector<double>{0, 1, 1, 1, 0, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace sonde
