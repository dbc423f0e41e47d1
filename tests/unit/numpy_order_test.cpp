#include "analysis/numpy_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sonde {
namespace {

void expect_sorts(const std::vector<std::int64_t>& values,
                  const std::vector<std::uint32_t>& order) {
  ASSERT_EQ(order.size(), values.size());
  std::vector<bool> seen(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_FALSE(seen[order[i]]);
    seen[order[i]] = true;
    if (i > 0) {
      ASSERT_LE(values[order[i - 1]], values[order[i]]);
    }
  }
}

TEST(NumpyOrder, SortsAnything) {
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 400; ++size) {
    std::vector<std::int64_t> values(size);
    for (std::int64_t& v : values) v = static_cast<std::int64_t>(random() % (1 + size / 2));
    expect_sorts(values, numpy_argsort(values));
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0u);
    numpy_heapsort(values, order);
    expect_sorts(values, order);
  }
}

TEST(NumpyOrder, SmallInputsAreStable) {
  // Up to 17 values are insertion sorted.
  const std::vector<std::int64_t> values{3, 1, 3, 1, 2, 2, 3, 1};
  EXPECT_EQ(numpy_argsort(values), (std::vector<std::uint32_t>{1, 3, 7, 4, 5, 0, 2, 6}));
  EXPECT_EQ(pandas_descending(values), (std::vector<std::uint32_t>{0, 2, 6, 4, 5, 1, 3, 7}));
}

TEST(NumpyOrder, LargerInputsAreNot) {
  // All equal, worked out by hand for 18 values: the middle (8) goes beside the end, pairs from
  // both ends change places until they meet, and the middle comes back.
  const std::vector<std::int64_t> values(18, 5);
  const std::vector<std::uint32_t> order = numpy_argsort(values);
  expect_sorts(values, order);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
                                               16, 17}));
}

// Each pivot is the second smallest value of its range: the depth limit must step in.
TEST(NumpyOrder, DefeatedPartitionsFallBackToHeapsort) {
  const std::size_t size = 3000;
  std::vector<std::int64_t> values(size);
  // Built backwards: what a median of three from (left, middle, right) would undo.
  std::vector<std::uint32_t> slots(size);
  std::iota(slots.begin(), slots.end(), 0u);
  std::int64_t next = 0;
  std::size_t left = 0;
  while (size - left > 3) {
    const std::size_t right = size - 1;
    const std::size_t middle = left + (right - left) / 2;
    values[slots[left]] = next++;
    values[slots[middle]] = next++;
    // The partition moves the pivot beside the right end and back to the second place.
    std::swap(slots[middle], slots[right - 1]);
    std::swap(slots[left + 1], slots[right - 1]);
    left += 2;
  }
  for (; left < size; ++left) values[slots[left]] = next++;
  expect_sorts(values, numpy_argsort(values));
}

}  // namespace
}  // namespace sonde
