#include "base/json_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sonde {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonWriter, WritesAsPythonDoes) {
  JsonWriter json;
  json.begin_object();
  json.member("name", "a\"b");
  json.member("count", 3);
  json.member("share", 21.0);
  json.member("flag", true);
  json.member("none", nullptr);
  json.key("rows");
  json.begin_array();
  json.begin_array();
  json.end_array();
  json.begin_object();
  json.end_object();
  json.value(std::int64_t{-5});
  json.value(std::numeric_limits<std::uint64_t>::max());
  json.raw("[1]");
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.take(),
            R"({"name": "a\"b", "count": 3, "share": 21.0, "flag": true, "none": null, )"
            R"("rows": [[], {}, -5, 18446744073709551615, [1]]})");
}

TEST(JsonWriter, OtherLayouts) {
  const auto write = [](JsonWriter::Layout layout) {
    JsonWriter json(layout);
    json.begin_object();
    json.member("a", 1);
    json.key("b");
    json.begin_array();
    json.value(2);
    json.value("x");
    json.end_array();
    json.key("c");
    json.begin_array();
    json.end_array();
    json.end_object();
    return json.take();
  };
  EXPECT_EQ(write(JsonWriter::Layout::Minimal), R"({"a":1,"b":[2,"x"],"c":[]})");
  EXPECT_EQ(write(JsonWriter::Layout::Indented),
            "{\n  \"a\": 1,\n  \"b\": [\n    2,\n    \"x\"\n  ],\n  \"c\": []\n}");
}

TEST(JsonWriter, EscapesToAscii) {
  EXPECT_EQ(quoted("\n\r\t\f\b\\/\x7f"), "\"\\n\\r\\t\\f\\b\\\\/\x7f\"");
  EXPECT_EQ(quoted(std::string_view("\x00\x1f", 2)), R"("\u0000\u001f")");
  EXPECT_EQ(quoted("é€"), R"("\u00e9\u20ac")");
  EXPECT_EQ(quoted("😀"), R"("\ud83d\ude00")");
}

TEST(JsonWriter, BrokenUtf8BecomesReplacements) {
  EXPECT_EQ(quoted("a\xff"
                   "b"),
            R"("a\ufffdb")");
  EXPECT_EQ(quoted("\xe2\x82"), R"("\ufffd\ufffd")");            // cut short
  EXPECT_EQ(quoted("\xc0\xaf"), R"("\ufffd\ufffd")");            // an overlong slash
  EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // half of a surrogate pair
  EXPECT_EQ(quoted("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond Unicode
}

TEST(JsonWriter, NumbersThatJsonCannotHoldAreNull) {
  JsonWriter json;
  json.begin_array();
  json.value(std::nan(""));
  json.value(std::numeric_limits<double>::infinity());
  json.end_array();
  EXPECT_EQ(json.take(), "[null, null]");
}

// The expected texts are what CPython prints.
TEST(PythonFloat, LooksLikeRepr) {
  EXPECT_EQ(python_float(0.0), "0.0");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(21), "21.0");
  EXPECT_EQ(python_float(67.82), "67.82");
  EXPECT_EQ(python_float(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(python_float(1e15), "1000000000000000.0");
  EXPECT_EQ(python_float(1e16), "1e+16");
  EXPECT_EQ(python_float(1.5e16), "1.5e+16");
  EXPECT_EQ(python_float(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(python_float(0.0001), "0.0001");
  EXPECT_EQ(python_float(0.00001), "1e-05");
  EXPECT_EQ(python_float(-1.25e-7), "-1.25e-07");
  EXPECT_EQ(python_float(1e100), "1e+100");
  EXPECT_EQ(python_float(5e-324), "5e-324");
  EXPECT_EQ(python_float(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

TEST(PythonRound, TiesGoToEven) {
  EXPECT_EQ(python_round(0.5), 0);
  EXPECT_EQ(python_round(1.5), 2);
  EXPECT_EQ(python_round(2.5), 2);
  EXPECT_EQ(python_round(-2.5), -2);
  EXPECT_EQ(python_round(1e30), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(python_round(-1e30), std::numeric_limits<std::int64_t>::min());
}

TEST(PythonRound, LooksAtTheExactValue) {
  EXPECT_EQ(python_round(2.675, 2), 2.67);  // a little less than it looks
  EXPECT_EQ(python_round(0.125, 2), 0.12);
  EXPECT_EQ(python_round(0.375, 2), 0.38);
  EXPECT_EQ(python_round(77.6, 2), 77.6);
  EXPECT_EQ(python_round(1234.5, -2), 1200.0);
  EXPECT_EQ(python_round(1e300, 2), 1e300);
}

}  // namespace
}  // namespace sonde
