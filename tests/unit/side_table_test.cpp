#include "trace/side_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sonde {
namespace {

SliceId slice(std::uint32_t i) { return SliceId(i); }

TEST(SideTable, OnlySlicesWithARowHaveOne) {
  SideTable<int> table;
  table.append(slice(0), 10);
  table.append(slice(63), 20);
  table.append(slice(64), 30);
  table.append(slice(200), 40);
  table.seal(300);
  EXPECT_EQ(*table.find(slice(0)), 10);
  EXPECT_EQ(*table.find(slice(63)), 20);
  EXPECT_EQ(*table.find(slice(64)), 30);
  EXPECT_EQ(*table.find(slice(200)), 40);
  EXPECT_EQ(table.find(slice(1)), nullptr);
  EXPECT_EQ(table.find(slice(65)), nullptr);
  EXPECT_EQ(table.find(slice(299)), nullptr);
}

TEST(SideTable, SlicesOutsideOfTheTraceHaveNoRow) {
  SideTable<int> table;
  table.append(slice(2), 1);
  table.seal(3);
  EXPECT_EQ(table.find(slice(1'000'000)), nullptr);
  EXPECT_EQ(table.find(SliceId()), nullptr);
}

TEST(SideTable, AnEmptyTableOfAnEmptyTraceFindsNothing) {
  SideTable<int> table;
  table.seal(0);
  EXPECT_EQ(table.find(slice(0)), nullptr);
  EXPECT_TRUE(table.empty());
}

TEST(SideTable, AgreesWithAMapForRandomSlices) {
  std::mt19937 random(3);
  for (const std::uint32_t percent : {1u, 50u, 99u}) {
    SideTable<std::uint32_t> table;
    std::map<std::uint32_t, std::uint32_t> model;
    constexpr std::uint32_t kSlices = 10'000;
    for (std::uint32_t i = 0; i < kSlices; ++i) {
      if (random() % 100 >= percent) continue;
      table.append(slice(i), i * 7);
      model[i] = i * 7;
    }
    table.seal(kSlices);
    ASSERT_EQ(table.size(), model.size());
    for (std::uint32_t i = 0; i < kSlices; ++i) {
      const std::uint32_t* row = table.find(slice(i));
      ASSERT_EQ(row != nullptr, model.count(i) == 1) << i;
      if (row != nullptr) {
        ASSERT_EQ(*row, model[i]);
      }
    }
  }
}

}  // namespace
}  // namespace sonde
