#include "import/json/json_cursor.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sonde {
namespace {

std::string unescaped(std::string_view raw) {
  std::string out;
  unescape_json(raw, out);
  return out;
}

std::int64_t integer(std::string_view text) {
  std::int64_t value = -77;
  EXPECT_TRUE(JsonCursor(text).integer(value)) << text;
  return value;
}

double real(std::string_view text) {
  double value = -77;
  EXPECT_TRUE(JsonCursor(text).real(value)) << text;
  return value;
}

// The two ways to read a time must agree wherever the fast one answers.
std::int64_t nanos(const std::string& text) {
  std::int64_t exact = -77;
  EXPECT_TRUE(micros_to_nanos(text, exact)) << text;
  const std::string member = text + "}";
  std::int64_t fast = 0;
  JsonCursor cursor(member);
  if (cursor.plain_micros(fast)) {
    EXPECT_EQ(fast, exact) << text;
    EXPECT_EQ(cursor.peek(), '}');
  }
  return exact;
}

bool refused(const std::string& text) {
  std::int64_t ignored = 0;
  std::int64_t fast = 0;
  const std::string member = text + "}";
  return !micros_to_nanos(text, ignored) && !JsonCursor(member).plain_micros(fast);
}

TEST(MicrosToNanos, WholeNumbersAndUpToThreeDecimalsAreExact) {
  EXPECT_EQ(nanos("0"), 0);
  EXPECT_EQ(nanos("7"), 7'000);
  EXPECT_EQ(nanos("12.5"), 12'500);
  EXPECT_EQ(nanos("12.05"), 12'050);
  EXPECT_EQ(nanos("12.005"), 12'005);
  EXPECT_EQ(nanos("-3.001"), -3'001);
  EXPECT_EQ(nanos("-0.5"), -500);
}

TEST(MicrosToNanos, SixteenDigitUnixTimesKeepTheirLastNanosecond) {
  EXPECT_EQ(nanos("1612345678901234"), 1'612'345'678'901'234'000);
  EXPECT_EQ(nanos("1612345678901234.567"), 1'612'345'678'901'234'567);
  EXPECT_EQ(nanos("1767891117074372.596"), 1'767'891'117'074'372'596);
  EXPECT_EQ(nanos("9999999999999.999"), 9'999'999'999'999'999);
  EXPECT_EQ(nanos("3999999999999999.999"), 3'999'999'999'999'999'999);
}

TEST(MicrosToNanos, MoreThanThreeDecimalsAreRounded) {
  EXPECT_EQ(nanos("1.0004"), 1'000);
  EXPECT_EQ(nanos("1.0005"), 1'001);
  EXPECT_EQ(nanos("1.00049999"), 1'000);
  EXPECT_EQ(nanos("1.9996"), 2'000);
  EXPECT_EQ(nanos("-1.0005"), -1'001);
}

TEST(MicrosToNanos, ExponentsAreUnderstood) {
  EXPECT_EQ(nanos("1e3"), 1'000'000);
  EXPECT_EQ(nanos("1.5E+2"), 150'000);
  EXPECT_EQ(nanos("25e-1"), 2'500);
  EXPECT_EQ(nanos("1.612345678e15"), 1'612'345'678'000'000'000);
}

TEST(MicrosToNanos, WhatNoClockShowsIsRefused) {
  for (const char* text :
       {"", "-", "abc", "N/A", "NaN", "inf", "-inf", "1e400", "99999999999999999999", "1x", "1.2.3",
        "4000000000000001", "5000000000000000", "-5000000000000000", "1e16", "0x10", "--1", "+1"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

TEST(MicrosToNanos, RandomNanosecondsComeBackExactly) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 20'000; ++round) {
    const auto value =
        static_cast<std::int64_t>(random() >> (2 + random() % 60)) % 4'000'000'000'000'000'000;
    std::string text = std::to_string(value / 1000) + ".";
    const std::string fraction = std::to_string(value % 1000);
    text += std::string(3 - fraction.size(), '0') + fraction;
    ASSERT_EQ(nanos(text), value) << text;
    ASSERT_EQ(nanos("-" + text), -value) << text;
  }
}

TEST(JsonCursor, IntegersOfAllSizes) {
  EXPECT_EQ(integer("5,"), 5);
  EXPECT_EQ(integer("-5}"), -5);
  EXPECT_EQ(integer("999999999999999999,"), 999'999'999'999'999'999);
  EXPECT_EQ(integer("9223372036854775807,"), INT64_MAX);
  EXPECT_EQ(integer("18446744073709551615,"), -1) << "addresses go up to 2^64 - 1";
  EXPECT_EQ(integer("\"42\","), 42) << "a number in quotes";
  EXPECT_EQ(integer("1e3,"), 1'000);
  EXPECT_EQ(integer("2.75,"), 2);
}

TEST(JsonCursor, WhatIsNoIntegerIsPassedOverAndLeavesTheValueAlone) {
  for (const char* text : {"null,", "N/A,", "true,", "\"abc\",", "[1,2],", "{\"a\":{}},", "1e400,",
                           "\"\",", "99999999999999999999999,"}) {
    std::int64_t value = -77;
    JsonCursor cursor(text);
    EXPECT_TRUE(cursor.integer(value)) << text;
    EXPECT_EQ(value, -77) << text;
    EXPECT_EQ(cursor.peek(), ',') << text;
  }
}

TEST(JsonCursor, RealNumbersAreFiniteOrNotTaken) {
  EXPECT_DOUBLE_EQ(real("2.5,"), 2.5);
  EXPECT_DOUBLE_EQ(real("-1e-3}"), -1e-3);
  EXPECT_DOUBLE_EQ(real("\"0.25\","), 0.25);
  for (const char* text :
       {"inf,", "-inf,", "nan,", "NaN,", "N/A,", "1e400,", "null,", "\"Infinity\","}) {
    EXPECT_DOUBLE_EQ(real(text), -77) << text;
  }
}

TEST(JsonCursor, StringsEndAtTheFirstQuoteThatIsNotEscaped) {
  // Lengths around the sixteen bytes that are looked at together.
  for (std::size_t length = 0; length < 70; ++length) {
    const std::string body(length, 'x');
    const std::string text = "\"" + body + "\\\"y\\\\\",";
    JsonCursor cursor(text);
    RawString out;
    ASSERT_TRUE(cursor.string(out));
    EXPECT_EQ(out.text, body + "\\\"y\\\\");
    EXPECT_TRUE(out.has_escapes);
    EXPECT_EQ(cursor.peek(), ',');
  }
}

TEST(JsonCursor, AStringThatNothingClosesIsRefused) {
  for (const char* text : {"\"abc", "\"abc\\\"", "\"abc\\", "\"", "abc\""}) {
    RawString out;
    EXPECT_FALSE(JsonCursor(text).string(out)) << text;
  }
}

TEST(JsonCursor, RawControlCharactersInStringsAreLetThrough) {
  RawString out;
  const std::string_view text("\"a\n\t\x01\0b\"", 9);
  ASSERT_TRUE(JsonCursor(text).string(out));
  EXPECT_EQ(out.text, std::string_view("a\n\t\x01\0b", 6));
}

TEST(JsonCursor, ValuesOfAnyTypeAreSkippedWhole) {
  for (const char* text :
       {"1", "null", "N/A", "\"a,}\"", "[1,[2,{}],\"]\"]", "{\"a\":\"}\",\"b\":[{}]}"}) {
    const std::string padded = std::string(text) + " ,";
    JsonCursor cursor(padded);
    std::string_view raw;
    ASSERT_TRUE(cursor.raw_value(raw)) << text;
    EXPECT_EQ(raw, text);
    EXPECT_TRUE(cursor.take(','));
  }
}

TEST(JsonCursor, AMillionOpenListsAreRefusedWithoutRecursion) {
  EXPECT_FALSE(JsonCursor(std::string(1'000'000, '[')).skip_value());
  const std::string closed = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_TRUE(JsonCursor(closed).skip_value());
}

TEST(UnescapeJson, TheEscapesOfJson) {
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d\b\f\n\r\t)"), "a\"b\\c/d\b\f\n\r\t");
  EXPECT_EQ(unescaped(R"(\u0041\u00e9\u20AC)"), "A\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(unescaped(R"(\ud83d\ude00!)"), "\xF0\x9F\x98\x80!");
}

TEST(UnescapeJson, BrokenEscapesStandAsTheyAre) {
  EXPECT_EQ(unescaped(R"(\q)"), "\\q");
  EXPECT_EQ(unescaped(R"(\u12)"), "\\u12");
  EXPECT_EQ(unescaped(R"(\uZZZZ)"), "\\uZZZZ");
  EXPECT_EQ(unescaped("end\\"), "end\\");
}

TEST(UnescapeJson, HalfASurrogatePairBecomesTheReplacementCharacter) {
  EXPECT_EQ(unescaped(R"(\ud83d)"), "\xEF\xBF\xBD");
  EXPECT_EQ(unescaped(R"(\ude00x)"), "\xEF\xBF\xBDx");
  EXPECT_EQ(unescaped(R"(\ud83d\u0041)"),
            "\xEF\xBF\xBD"
            "A");
}

}  // namespace
}  // namespace sonde
