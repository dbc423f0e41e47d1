#include "trace/filter.hpp"

#include <gtest/gtest.h>

#include "import/loader.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/rich_trace.hpp"
#include "tests/support/same_trace.hpp"

namespace sonde {
namespace {

Trace ddp() {
  Result<Trace> trace = load_trace(std::string(SONDE_TEST_DATA) + "/ddp_rank0.pt.trace.json.gz");
  EXPECT_TRUE(trace.ok());
  return std::move(*trace);
}

TEST(TraceFilter, TakingAllGivesTheSameTrace) {
  for (const Trace& trace : {ddp(), test::rich_trace(), test::sampled_trace()}) {
    EXPECT_EQ(test::difference(trace, filter_trace(trace, {})), "");
  }
  const Trace profile = test::profiled_trace();
  const Trace again = filter_trace(profile, {});
  EXPECT_EQ(again.call_profile().functions.size(), 3u);
  EXPECT_EQ(again.text(again.call_profile().functions[1].name), "step");
}

TEST(TraceFilter, AWindowKeepsWhatOverlapsIt) {
  const Trace trace = ddp();
  TraceFilter filter;
  // Around a launch, where much goes on.
  const std::size_t some = trace.launch_to_device().size() / 2;
  const Nanos middle = trace.slices().start(trace.launch_to_device().from(some));
  filter.windows.push_back({middle, middle + 2'000'000});
  const Trace piece = filter_trace(trace, filter);
  std::size_t expected = 0;
  for (const SliceId s : all_slices(trace)) {
    const Nanos start = trace.slices().start(s);
    const Nanos end = trace.slices().end(s);
    if (start < middle + 2'000'000 && (end > middle || start >= middle)) ++expected;
  }
  EXPECT_GT(expected, 10u);
  EXPECT_LT(expected, trace.slice_count() / 2);
  EXPECT_EQ(piece.slice_count(), expected);
  // Times of the file stay: a piece lies where it was.
  for (const SliceId s : all_slices(piece)) {
    const Nanos start = piece.slices().start(s) + piece.meta().origin - trace.meta().origin;
    EXPECT_LT(start, middle + 2'000'000);
  }
  // Links stay where both ends do, and lead to the same work.
  EXPECT_GT(piece.launch_to_device().size(), 0u);
  for (std::size_t i = 0; i < piece.launch_to_device().size(); ++i) {
    const LaunchRow* launch = piece.launches().find(piece.launch_to_device().from(i));
    const DeviceRow* work = piece.device_work().find(piece.launch_to_device().to(i));
    ASSERT_NE(launch, nullptr);
    ASSERT_NE(work, nullptr);
    EXPECT_EQ(launch->correlation, work->correlation);
  }
}

TEST(TraceFilter, BordersOfWindows) {
  TraceBuilder builder;
  const TrackId track = builder.add_track({});
  const auto slice = [&](const char* name, Nanos start, Nanos length) {
    builder.add_slice(start, length, track, builder.intern(name), SliceKind::Operator);
  };
  slice("before", 0, 10);
  slice("ends at the begin", 90, 10);
  slice("empty at the begin", 100, 0);
  slice("reaches in", 95, 10);
  slice("inside", 120, 10);
  slice("empty at the end", 200, 0);
  slice("begins at the end", 200, 10);
  slice("around", 50, 300);
  builder.add_marker({100, track, builder.intern("in"), 't', {}});
  builder.add_marker({200, track, builder.intern("out"), 't', {}});
  builder.nest(1);
  const Trace trace = builder.finish();
  TraceFilter filter;
  filter.windows.push_back({100, 200});
  const Trace piece = filter_trace(trace, filter);
  EXPECT_EQ(test::names(piece),
            (std::vector<std::string>{"empty at the begin", "reaches in", "inside", "around"}));
  ASSERT_EQ(piece.markers().size(), 1u);
  EXPECT_EQ(piece.text(piece.markers()[0].name), "in");
}

TEST(TraceFilter, KindsAndPointsAreLeftOutByWish) {
  TraceFilter filter;
  filter.kinds.set(static_cast<std::size_t>(SliceKind::Kernel));
  filter.markers = filter.counters = filter.allocations = filter.samples = false;
  const Trace piece = filter_trace(test::rich_trace(), filter);
  ASSERT_EQ(piece.slice_count(), 1u);
  EXPECT_EQ(piece.name(SliceId(std::uint32_t{0})), "gemm<float>");
  EXPECT_TRUE(piece.markers().empty());
  EXPECT_TRUE(piece.counters().empty());
  EXPECT_TRUE(piece.allocations().empty());
  EXPECT_EQ(piece.tracks().size(), 1u) << "tracks without anything on them go";
}

TEST(TraceFilter, DeviceWorkGoesWithItsLaunch) {
  const Trace trace = test::kineto(test::kineto_text(
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":10,"dur":3,"args":{"correlation":1}},
         {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":110,"dur":3,"args":{"correlation":2}},
         {"ph":"X","cat":"kernel","name":"first","pid":0,"tid":7,"ts":105,"dur":5,"args":{"correlation":1,"device":0,"stream":7}},
         {"ph":"X","cat":"kernel","name":"second","pid":0,"tid":7,"ts":205,"dur":5,"args":{"correlation":2,"device":0,"stream":7}})"));
  TraceFilter filter;
  filter.windows.push_back({90'000, 190'000});  // the trace begins at 10 us
  filter.device_work_by_launch = true;
  EXPECT_EQ(test::names(filter_trace(trace, filter)),
            (std::vector<std::string>{"cudaLaunchKernel", "second"}));
}

TEST(TraceFilter, MergingPutsTracesOnOneClock) {
  std::vector<Trace> traces;
  for (const Nanos base : {5'000, 2'000}) {
    TraceBuilder builder;
    builder.meta().format = "sonde";
    builder.meta().wall_clock = true;
    builder.meta().base_time = base;
    Track track;
    track.pid = 1;
    track.process = builder.intern("program");
    const TrackId on = builder.add_track(track);
    const SliceId a = builder.add_slice(100, 10, on, builder.intern("launch"), SliceKind::Runtime);
    LaunchRow row;
    row.correlation = 4;
    builder.add_launch(a, row);
    const SliceId b = builder.add_slice(120, 10, on, builder.intern("work"), SliceKind::Kernel);
    builder.nest(1);
    builder.add_launch_link(a, b);
    traces.push_back(builder.finish());
  }
  const Trace merged = merge_traces({&traces[0], &traces[1]}, {"rank 0", "rank 1"});
  ASSERT_EQ(merged.slice_count(), 4u);
  EXPECT_EQ(merged.slices().start(SliceId(std::uint32_t{0})), 3000);
  EXPECT_EQ(merged.slices().start(SliceId(std::uint32_t{2})), 0);
  EXPECT_EQ(merged.launch_to_device().size(), 2u);
  EXPECT_NE(merged.launches().row(0).correlation, merged.launches().row(1).correlation);
  EXPECT_EQ(merged.text(merged.tracks()[1].process), "rank 1: program");
  EXPECT_EQ(merged.meta().base_time + merged.meta().origin, 2'100);
}

}  // namespace
}  // namespace sonde
