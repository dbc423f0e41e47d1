#include "base/flat_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>

namespace sonde {
namespace {

TEST(FlatMap, AnEmptyMapFindsNothing) {
  const FlatMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_EQ(map.size(), 0u);
}

TEST(FlatMap, TheSmallestAndTheLargestKeyAreOrdinaryKeys) {
  FlatMap<int> map;
  map.set(0, 1);
  map.set(std::numeric_limits<std::uint64_t>::max(), 2);
  ASSERT_NE(map.find(0), nullptr);
  EXPECT_EQ(*map.find(0), 1);
  EXPECT_EQ(*map.find(std::numeric_limits<std::uint64_t>::max()), 2);
  EXPECT_EQ(map.find(1), nullptr);
}

TEST(FlatMap, GetOrInsertTellsWhetherTheKeyWasNewAndKeepsTheOldValue) {
  FlatMap<int> map;
  bool inserted = false;
  EXPECT_EQ(map.get_or_insert(5, 10, &inserted), 10);
  EXPECT_TRUE(inserted);
  EXPECT_EQ(map.get_or_insert(5, 20, &inserted), 10);
  EXPECT_FALSE(inserted);
  map.set(5, 30);
  EXPECT_EQ(*map.find(5), 30);
  EXPECT_EQ(map.size(), 1u);
}

TEST(FlatMap, ReserveKeepsWhatIsThere) {
  FlatMap<int> map;
  map.set(7, 70);
  map.reserve(10'000);
  ASSERT_NE(map.find(7), nullptr);
  EXPECT_EQ(*map.find(7), 70);
}

TEST(FlatMap, AgreesWithAHashMapOnDenseStridedAndRandomKeys) {
  std::mt19937_64 random(2);
  FlatMap<std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    const std::uint64_t key = i % 3 == 0 ? i : i % 3 == 1 ? i << 40 : random();
    map.set(key, i);
    model[key] = i;
  }
  EXPECT_EQ(map.size(), model.size());
  for (const auto& [key, value] : model) {
    ASSERT_NE(map.find(key), nullptr);
    ASSERT_EQ(*map.find(key), value);
  }
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t key = random();
    ASSERT_EQ(map.find(key) != nullptr, model.count(key) == 1);
  }
}

}  // namespace
}  // namespace sonde
