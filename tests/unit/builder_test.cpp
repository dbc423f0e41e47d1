#include "trace/builder.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace sonde {
namespace {

SliceId slice(std::uint32_t i) { return SliceId(i); }

class Nesting : public testing::Test {
 protected:
  Nesting() : track_(builder_.add_track({})) {}

  SliceId add(Nanos start, Nanos end) {
    return builder_.add_slice(start, end - start, track_, builder_.intern("x"),
                              SliceKind::Operator);
  }
  SliceId parent(SliceId of) const { return builder_.slices().parent(of); }

  TraceBuilder builder_;
  TrackId track_;
};

TEST_F(Nesting, TheParentIsTheInnermostSliceThatEnclosesTheWhole) {
  const SliceId inner = add(20, 30);
  const SliceId outer = add(0, 100);
  const SliceId middle = add(10, 50);
  builder_.nest(1);
  EXPECT_EQ(parent(inner), middle);
  EXPECT_EQ(parent(middle), outer);
  EXPECT_FALSE(parent(outer).valid());
  EXPECT_EQ(builder_.slices().depth(inner), 2u);
  EXPECT_EQ(builder_.slices().depth(outer), 0u);
}

TEST_F(Nesting, SlicesThatOverlapInPartAreBothKeptAndNeitherIsTheParent) {
  const SliceId first = add(0, 10);
  const SliceId second = add(5, 15);
  builder_.nest(1);
  EXPECT_FALSE(parent(first).valid());
  EXPECT_FALSE(parent(second).valid());
  EXPECT_EQ(builder_.slices().size(), 2u);
}

TEST_F(Nesting, OfTwoEqualSlicesTheFirstInTheFileIsTheParent) {
  const SliceId first = add(0, 10);
  const SliceId second = add(0, 10);
  builder_.nest(1);
  EXPECT_EQ(parent(second), first);
}

TEST_F(Nesting, NeighboursThatTouchAreSiblings) {
  const SliceId first = add(0, 10);
  const SliceId second = add(10, 20);
  const SliceId instant = add(10, 10);
  builder_.nest(1);
  EXPECT_FALSE(parent(first).valid());
  EXPECT_FALSE(parent(second).valid());
  EXPECT_EQ(parent(instant), second);
}

TEST_F(Nesting, OtherTracksDoNotMatter) {
  add(0, 100);
  const TrackId other = builder_.add_track({});
  const SliceId alone = builder_.add_slice(10, 5, other, builder_.intern("y"), SliceKind::Kernel);
  builder_.nest(2);
  EXPECT_FALSE(parent(alone).valid());
}

TEST_F(Nesting, OneMillionSlicesWithinEachOther) {
  constexpr std::uint32_t kCount = 1'000'000;
  for (std::uint32_t i = 0; i < kCount; ++i) add(i, 2 * Nanos{kCount} - i);
  builder_.nest(2);
  EXPECT_EQ(builder_.slices().depth(slice(kCount - 1)), kCount - 1);
  for (std::uint32_t i = 1; i < kCount; ++i) ASSERT_EQ(parent(slice(i)), slice(i - 1));
}

// For each slice all others are tried: of those that enclose it and are not empty at its start, the
// one that comes last in (start, longest first, file order).
std::vector<SliceId> parents_one_by_one(const SliceColumns& slices) {
  const auto key = [&](SliceId s) { return std::tuple(slices.start(s), -slices.duration(s), s); };
  std::vector<SliceId> parents;
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    SliceId best;
    for (std::uint32_t j = 0; j < slices.size(); ++j) {
      const SliceId a = slice(j);
      const SliceId s = slice(i);
      const bool encloses = i != j && slices.track(a) == slices.track(s) && key(a) < key(s) &&
                            slices.end(a) >= slices.end(s) && slices.end(a) > slices.start(s);
      if (encloses && (!best.valid() || key(best) < key(a))) best = a;
    }
    parents.push_back(best);
  }
  return parents;
}

TEST(NestingProperty, RandomSlicesGetTheParentsThatTryingAllPairsGives) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    TraceBuilder builder;
    const std::uint32_t tracks = 1 + random() % 3;
    for (std::uint32_t t = 0; t < tracks; ++t) builder.add_track({});
    const std::uint32_t count = random() % 80;
    const Nanos span = 1 + random() % 60;
    for (std::uint32_t i = 0; i < count; ++i) {
      builder.add_slice(static_cast<Nanos>(random() % span), static_cast<Nanos>(random() % span),
                        TrackId(static_cast<std::uint32_t>(random() % tracks)), builder.intern("x"),
                        SliceKind::Other);
    }
    builder.nest(1 + random() % 3);
    const std::vector<SliceId> expected = parents_one_by_one(builder.slices());
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(builder.slices().parent(slice(i)), expected[i])
          << "round " << round << " slice " << i;
      const std::uint32_t depth = expected[i].valid() ? builder.slices().depth(expected[i]) + 1 : 0;
      ASSERT_EQ(builder.slices().depth(slice(i)), depth);
    }
  }
}

TEST(TraceBuilder, TimesCountFromTheEarliestEventAndTheOriginIsKept) {
  TraceBuilder builder;
  const TrackId track = builder.add_track({});
  builder.add_slice(1'000, 50, track, builder.intern("x"), SliceKind::Other);
  Allocation allocation;
  allocation.time = 900;
  allocation.track = track;
  builder.add_allocation(allocation);
  builder.add_counter({2'000, track, builder.intern("c"), builder.intern("s"), 1});
  builder.add_marker({500, track, builder.intern("m"), 'g'});
  builder.nest(1);
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.meta().origin, 900);
  EXPECT_EQ(trace.slices().start(slice(0)), 100);
  EXPECT_EQ(trace.allocations()[0].time, 0);
  EXPECT_EQ(trace.counters()[0].time, 1'100);
  EXPECT_EQ(trace.markers()[0].time, -400)
      << "a marker outside of the recording does not stretch it";
  EXPECT_EQ(trace.span_end(), 1'100);
}

TEST(TraceBuilder, TheFarthestTimesThatImportersLetThroughDoNotOverflow) {
  TraceBuilder builder;
  const TrackId track = builder.add_track({});
  builder.add_slice(-kMaxTime, kMaxDuration, track, builder.intern("x"), SliceKind::Other);
  builder.add_slice(kMaxTime, kMaxDuration, track, builder.intern("y"), SliceKind::Other);
  builder.nest(1);
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.slices().start(slice(0)), 0);
  EXPECT_EQ(trace.slices().end(slice(1)), 2 * kMaxTime + kMaxDuration);
  EXPECT_EQ(trace.span_end(), 2 * kMaxTime + kMaxDuration);
}

TEST(TraceBuilder, ATraceOfNothingIsATrace) {
  TraceBuilder builder;
  builder.nest(4);
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.slice_count(), 0u);
  EXPECT_EQ(trace.span_end(), 0);
}

TEST(TraceBuilder, EqualInputsAndEqualStackFramesAreKeptOnce) {
  TraceBuilder builder;
  const StringId a = builder.intern("[[2, 3]]");
  const StringId b = builder.intern("[[4]]");
  const InputsId first = builder.intern_inputs({a, {}, {}, {}});
  EXPECT_EQ(builder.intern_inputs({a, {}, {}, {}}), first);
  EXPECT_NE(builder.intern_inputs({b, {}, {}, {}}), first);
  EXPECT_NE(builder.intern_inputs({{}, a, {}, {}}), first);

  const StackId root = builder.intern_stack({{}, a, b, 1});
  EXPECT_EQ(builder.intern_stack({{}, a, b, 1}), root);
  EXPECT_NE(builder.intern_stack({{}, a, b, 2}), root);
  EXPECT_NE(builder.intern_stack({root, a, b, 1}), root);
}

}  // namespace
}  // namespace sonde
