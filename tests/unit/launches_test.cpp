// How long device work waits, and how much of it is queued.

#include "analysis/launches.hpp"

#include <gtest/gtest.h>

#include "trace/builder.hpp"

namespace sonde {
namespace {

class Sketch {
 public:
  Sketch() : thread_(builder_.add_track({})), stream_(builder_.add_track({})) {}

  SliceId call(const char* name, Nanos start, Nanos end) {
    return builder_.add_slice(start, end - start, thread_, builder_.intern(name),
                              SliceKind::Runtime);
  }
  void kernel(SliceId call, Nanos start, Nanos end) {
    links_.emplace_back(call, builder_.add_slice(start, end - start, stream_,
                                                 builder_.intern("kernel"), SliceKind::Kernel));
  }
  Trace finish() {
    builder_.add_slice(0, 0, thread_, builder_.intern("origin"), SliceKind::Other);
    builder_.nest(1);
    for (const auto& [from, to] : links_) builder_.add_launch_link(from, to);
    return builder_.finish();
  }

 private:
  TraceBuilder builder_;
  TrackId thread_;
  TrackId stream_;
  std::vector<std::pair<SliceId, SliceId>> links_;
};

Trace example() {
  Sketch sketch;
  const SliceId first = sketch.call("launch", 100, 110);
  const SliceId second = sketch.call("launch", 120, 140);
  const SliceId graph = sketch.call("graph", 300, 310);
  sketch.kernel(first, 130, 180);
  sketch.kernel(second, 180, 200);
  sketch.kernel(graph, 320, 340);
  sketch.kernel(graph, 340, 400);
  return sketch.finish();
}

TEST(Launches, DelaysAreFromCallToWork) {
  const Trace trace = example();
  const std::vector<LaunchStats> stats = launch_stats(trace);
  ASSERT_EQ(stats.size(), 2u);
  const LaunchStats& graph = trace.text(stats[0].call) == "graph" ? stats[0] : stats[1];
  const LaunchStats& launch = &graph == &stats[0] ? stats[1] : stats[0];
  EXPECT_EQ(launch.calls, 2u);
  EXPECT_EQ(launch.work, 2u);
  EXPECT_DOUBLE_EQ(launch.mean_call(), 15);
  EXPECT_DOUBLE_EQ(launch.mean_delay(), 45);
  EXPECT_EQ(launch.longest_delay, 60);
  EXPECT_EQ(graph.calls, 1u);
  EXPECT_EQ(graph.work, 2u);
  EXPECT_DOUBLE_EQ(graph.mean_delay(), 30);
}

TEST(Launches, TheQueueGrowsWithCallsAndShrinksWithEnds) {
  const LaunchQueue queue = launch_queue(example());
  EXPECT_EQ(queue.begin, 100);
  EXPECT_EQ(queue.end, 400);
  EXPECT_EQ(queue.longest, 2);
  // 1 from 100, 2 from 120, 1 from 180, 0 from 200, 2 from 300, 1 from 340 to 400.
  EXPECT_DOUBLE_EQ(queue.mean, (20.0 + 120 + 20 + 80 + 60) / 300);
  EXPECT_DOUBLE_EQ(queue.empty, 100.0 / 300);
  ASSERT_EQ(queue.points.size(), 7u);
  EXPECT_EQ(queue.points.back().length, 0);
  const std::vector<QueuePart> parts = queue_parts(queue, 100, 400, 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_DOUBLE_EQ(parts[0].mean, 1.6);
  EXPECT_EQ(parts[0].longest, 2);
  EXPECT_DOUBLE_EQ(parts[1].mean, 0);
  EXPECT_DOUBLE_EQ(parts[2].mean, 1.4);
}

TEST(Launches, NothingOfNothing) {
  Sketch sketch;
  const Trace trace = sketch.finish();
  EXPECT_TRUE(launch_stats(trace).empty());
  EXPECT_EQ(launch_queue(trace).longest, 0);
  EXPECT_TRUE(queue_parts(launch_queue(trace), 0, 100, 5).empty());
}

}  // namespace
}  // namespace sonde
