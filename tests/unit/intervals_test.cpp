#include "analysis/intervals.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace sonde {
namespace {

// The naive model: one bit per nanosecond.
constexpr std::size_t kSpan = 96;
using Bits = std::bitset<kSpan>;

Bits bits_of(const std::vector<Interval>& intervals) {
  Bits bits;
  for (const Interval& i : intervals) {
    for (Nanos t = i.start; t < i.end; ++t) bits.set(static_cast<std::size_t>(t));
  }
  return bits;
}

std::vector<Interval> random_intervals(std::mt19937& random) {
  std::vector<Interval> out(random() % 12);
  for (Interval& i : out) {
    i.start = static_cast<Nanos>(random() % kSpan);
    // Empty and backward ones too.
    i.end = std::min<Nanos>(i.start + static_cast<Nanos>(random() % 20) - 3, kSpan);
  }
  return out;
}

void expect_normal(const Intervals& a) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LT(a[i].start, a[i].end);
    if (i > 0) {
      EXPECT_LT(a[i - 1].end, a[i].start);
    }
  }
}

TEST(Intervals, AgreeWithABitmap) {
  std::mt19937 random(20240229);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<Interval> raw_a = random_intervals(random);
    const std::vector<Interval> raw_b = random_intervals(random);
    const Intervals a = merge_intervals(raw_a);
    const Intervals b = merge_intervals(raw_b);
    const Bits bits_a = bits_of(raw_a);
    const Bits bits_b = bits_of(raw_b);
    expect_normal(a);
    ASSERT_EQ(bits_of(a), bits_a);
    ASSERT_EQ(total_length(a), static_cast<Nanos>(bits_a.count()));

    const Intervals both = intersect(a, b);
    expect_normal(both);
    ASSERT_EQ(bits_of(both), bits_a & bits_b);
    ASSERT_EQ(both, intersect(b, a));

    const Intervals rest = subtract(a, b);
    expect_normal(rest);
    ASSERT_EQ(bits_of(rest), bits_a & ~bits_b);
    ASSERT_EQ(total_length(rest) + total_length(both), total_length(a));

    const Interval window{static_cast<Nanos>(random() % kSpan),
                          static_cast<Nanos>(random() % kSpan)};
    const Intervals clipped = clip(a, window);
    expect_normal(clipped);
    ASSERT_EQ(bits_of(clipped), bits_a & bits_of({window}));
    ASSERT_EQ(length_within(a, window), total_length(clipped));
  }
}

TEST(Intervals, TouchingOnesAreJoined) {
  EXPECT_EQ(merge_intervals({{5, 9}, {0, 5}, {9, 9}}), (Intervals{{0, 9}}));
}

TEST(Intervals, AHoleMayReachOverSeveralIntervals) {
  EXPECT_EQ(subtract({{0, 4}, {6, 8}, {10, 14}}, {{2, 12}}), (Intervals{{0, 2}, {12, 14}}));
}

TEST(Intervals, NothingIsFine) {
  EXPECT_TRUE(merge_intervals({}).empty());
  EXPECT_TRUE(intersect({}, {{0, 1}}).empty());
  EXPECT_TRUE(subtract({}, {{0, 1}}).empty());
  EXPECT_EQ(length_within({}, {0, 10}), 0);
}

}  // namespace
}  // namespace sonde
