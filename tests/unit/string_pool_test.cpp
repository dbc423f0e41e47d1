#include "trace/string_pool.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde {
namespace {

TEST(StringPool, IdZeroIsTheEmptyString) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.intern("").value, 0u);
  EXPECT_EQ(pool.view(StringId(std::uint32_t{0})), "");
}

TEST(StringPool, EqualTextsShareOneIdAndIdsCountUpInOrderOfFirstAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.intern("aten::add").value, 1u);
  EXPECT_EQ(pool.intern("aten::mul").value, 2u);
  EXPECT_EQ(pool.intern("aten::add").value, 1u);
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, FindDoesNotAdd) {
  StringPool pool;
  EXPECT_FALSE(pool.find("never").valid());
  EXPECT_EQ(pool.size(), 1u);
  const StringId id = pool.intern("known");
  EXPECT_EQ(pool.find("known"), id);
}

TEST(StringPool, AnInvalidIdShowsAsEmptyText) {
  const StringPool pool;
  EXPECT_EQ(pool.view(StringId()), "");
}

TEST(StringPool, TextsWithZeroBytesAndEqualBeginningsStayApart) {
  StringPool pool;
  const StringId a = pool.intern(std::string("x\0y", 3));
  const StringId b = pool.intern(std::string("x\0z", 3));
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.view(a).size(), 3u);
}

TEST(StringPool, ViewsSurviveGrowthAndAMove) {
  StringPool pool;
  const StringId id = pool.intern("first");
  const std::string_view view = pool.view(id);
  for (int i = 0; i < 100'000; ++i) pool.intern("name " + std::to_string(i));
  const StringPool moved = std::move(pool);
  EXPECT_EQ(view, "first");
  EXPECT_EQ(moved.view(id).data(), view.data());
  EXPECT_EQ(moved.size(), 100'002u);
}

TEST(StringPool, ATextLongerThanAChunkIsKeptWhole) {
  StringPool pool;
  const std::string text(300'000, 'k');
  EXPECT_EQ(pool.view(pool.intern(text)), text);
  EXPECT_EQ(pool.view(pool.intern("short")), "short");
  EXPECT_GE(pool.bytes(), text.size());
}

TEST(StringPool, AgreesWithAHashMapOnRandomTexts) {
  std::mt19937 random(1);
  StringPool pool;
  std::unordered_map<std::string, std::uint32_t> model{{"", 0}};
  for (int i = 0; i < 50'000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    const auto expected = model.try_emplace(text, model.size()).first->second;
    ASSERT_EQ(pool.intern(text).value, expected) << text;
  }
  for (const auto& [text, id] : model) ASSERT_EQ(pool.view(StringId(id)), text);
}

}  // namespace
}  // namespace sonde
