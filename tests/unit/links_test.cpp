#include "trace/links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace sonde {
namespace {

SliceId slice(std::uint32_t i) { return SliceId(i); }

std::vector<std::uint32_t> targets(const Links& links, std::uint32_t from) {
  std::vector<std::uint32_t> out;
  for (const SliceId to : links.targets(slice(from))) out.push_back(to.value);
  return out;
}

TEST(Links, ASourceHasAllItsTargetsInAscendingOrder) {
  Links links;
  links.add(slice(5), slice(9));
  links.add(slice(1), slice(2));
  links.add(slice(5), slice(3));
  links.seal();
  EXPECT_EQ(targets(links, 5), (std::vector<std::uint32_t>{3, 9}));
  EXPECT_EQ(targets(links, 1), (std::vector<std::uint32_t>{2}));
  EXPECT_TRUE(targets(links, 2).empty());
}

TEST(Links, ATargetKeepsItsFirstSource) {
  Links links;
  links.add(slice(8), slice(3));
  links.add(slice(1), slice(3));
  links.seal();
  EXPECT_EQ(links.size(), 1u);
  EXPECT_EQ(links.source(slice(3)), slice(8));
  EXPECT_TRUE(targets(links, 1).empty());
}

TEST(Links, WithoutArrowsNothingHasASource) {
  Links links;
  links.seal();
  EXPECT_FALSE(links.source(slice(0)).valid());
  EXPECT_TRUE(links.targets(slice(0)).empty());
}

TEST(Links, AgreesWithAMapForRandomArrows) {
  std::mt19937 random(4);
  for (int round = 0; round < 50; ++round) {
    Links links;
    std::map<std::uint32_t, std::uint32_t> source_of;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t from = random() % 60;
      const std::uint32_t to = random() % 100;
      links.add(slice(from), slice(to));
      source_of.try_emplace(to, from);
    }
    links.seal();
    ASSERT_EQ(links.size(), source_of.size());
    for (std::uint32_t to = 0; to < 100; ++to) {
      const auto known = source_of.find(to);
      ASSERT_EQ(links.source(slice(to)),
                known == source_of.end() ? SliceId() : slice(known->second));
    }
    for (std::uint32_t from = 0; from < 60; ++from) {
      std::vector<std::uint32_t> expected;
      for (const auto& [to, source] : source_of) {
        if (source == from) expected.push_back(to);
      }
      ASSERT_EQ(targets(links, from), expected);
    }
  }
}

}  // namespace
}  // namespace sonde
