#include "analysis/libstdcxx_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <string>

namespace sonde {
namespace {

TEST(LibstdcxxHash, HasTheValuesThatStandInDumps) {
  EXPECT_EQ(libstdcxx_hash("operator"), 3060606181218273969u);
  EXPECT_EQ(libstdcxx_hash("MXNET_C_API"), 849786139768988538u);
  EXPECT_EQ(libstdcxx_hash("Device Storage"), 9785678402843609691u);
}

TEST(LibstdcxxHash, TakesEveryLength) {
  EXPECT_EQ(libstdcxx_hash(""), 6142509188972423790u);
  EXPECT_EQ(libstdcxx_hash("a"), 4993892634952068459u);
  EXPECT_EQ(libstdcxx_hash("abcdefgh"), 8664279048047335611u);
  EXPECT_EQ(libstdcxx_hash("abcdefghi"), 13036955925923793583u);
  EXPECT_EQ(libstdcxx_hash("Memory: gpu/0"), 12163273494388323362u);
}

// The rule told once more, on a plain list and without any thought of speed.
std::vector<std::uint32_t> slow_order(const std::vector<std::string_view>& names) {
  const std::vector<std::uint64_t> growth = {2, 5, 11, 23, 47, 97, 199, 409, 823, 1741};
  std::list<std::uint32_t> list;
  std::uint64_t buckets = 1;
  std::size_t step = 0;
  const auto insert = [&](std::list<std::uint32_t>& into, std::uint32_t node) {
    const auto bucket = [&](std::uint32_t n) { return libstdcxx_hash(names[n]) % buckets; };
    const auto first = std::find_if(into.begin(), into.end(), [&](std::uint32_t other) {
      return bucket(other) == bucket(node);
    });
    into.insert(first == into.end() ? into.begin() : first, node);
  };
  for (std::uint32_t node = 0; node < names.size(); ++node) {
    if (node + 1 >= buckets) {
      buckets = growth[step++];
      std::list<std::uint32_t> rebuilt;
      for (const std::uint32_t other : list) insert(rebuilt, other);
      list.swap(rebuilt);
    }
    insert(list, node);
  }
  return {list.begin(), list.end()};
}

TEST(LibstdcxxMapOrder, FollowsTheRuleForEverySize) {
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.push_back("name " + std::to_string(i * 7919 % 1000));
  for (std::size_t count :
       {0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 22, 23, 24, 46, 47, 96, 97, 198, 500}) {
    const std::vector<std::string_view> names(texts.begin(),
                                              texts.begin() + static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(libstdcxx_map_order(names), slow_order(names)) << count;
  }
}

}  // namespace
}  // namespace sonde
