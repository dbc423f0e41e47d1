#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Utf8, KnowsValidSequencesFromOthers) {
  for (const std::string_view good :
       {"", "plain", "\x7F", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "eight and more \xE4\xBD\xA0 behind"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(mend_utf8(good), good);
  }
  for (const std::string_view bad :
       {"\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE4\xBD",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
        "eight and more \xE4\xBD"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
    EXPECT_TRUE(is_utf8(mend_utf8(bad)));
  }
}

TEST(Utf8, MendsByteByByte) {
  EXPECT_EQ(mend_utf8("a\xFF\xC3(z"), "a\xEF\xBF\xBD\xEF\xBF\xBD(z");
  EXPECT_EQ(mend_utf8("\xE4\xBD"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, EveryCodePointGoesThereAndBack) {
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    std::string text;
    append_utf8(code, text);
    const CodePoint point = decode_utf8(text);
    ASSERT_TRUE(point.valid) << code;
    ASSERT_EQ(point.bytes, text.size()) << code;
    ASSERT_EQ(point.value, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
  }
  std::string beyond;
  append_utf8(0x110000, beyond);
  EXPECT_EQ(beyond, kReplacementCharacter);
}

}  // namespace
}  // namespace sonde
