#include "import/json/lenient.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::kineto;
using test::kineto_text;
using test::losses;
using test::names;

// One event per name, as Kineto writes them on one line or over several.
std::string event(const std::string& name, int at, bool pretty) {
  const std::string ts = std::to_string(at);
  if (!pretty)
    return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":2,"ts":)" + ts +
           R"(,"dur":1,"args":{"External id":)" + ts + "}}";
  return "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" + name +
         "\", \"pid\": 1, \"tid\": 2,\n    \"ts\": " + ts +
         ", \"dur\": 1,\n    \"args\": {\n      \"External id\": " + ts + "\n    }\n  }";
}

struct BadName {
  const char* what;
  const char* name;
};

constexpr BadName kBadNames[] = {
    {"one raw quote", "he said \"hi"},
    {"a pair of raw quotes", "he said \"hi\" again"},
    {"three raw quotes", "a \"b\" c\"d"},
    {"a quote at the end", "size 5\""},
    {"a quote at the start", "\"quoted"},
    {"an object", R"(call({"a": 1, "b": "x"}))"},
    {"an object with an open quote", R"(call({"a": "1))"},
    {"a list of strings", R"(["x", "y"])"},
    {"a comma behind a quote", R"(f("a", "b"))"},
    {"escaped and raw quotes", R"(a \"b\" "c)"},
};

class RawQuotes : public testing::TestWithParam<std::tuple<BadName, bool>> {};

TEST_P(RawQuotes, CostNoEventAndTheNameIsKept) {
  const auto& [bad, pretty] = GetParam();
  std::string text = "{\n \"schemaVersion\": 1,\n \"traceEvents\": [\n";
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    const std::string name = i == 10 || i == 49 ? bad.name : "op" + std::to_string(i);
    text += event(name, i, pretty) + (i < 49 ? ",\n" : "\n");
    std::string shown = name;
    for (std::size_t at; (at = shown.find("\\\"")) != std::string::npos;) shown.erase(at, 1);
    expected.push_back(shown);
  }
  text += "], \"traceName\": \"x.json\", \"baseTimeNanoseconds\": 17\n}";
  const Trace trace = kineto(text);
  EXPECT_EQ(names(trace), expected);
  EXPECT_EQ(losses(trace, "event_mended"), 2u);
  EXPECT_EQ(losses(trace, "event_unreadable"), 0u);
}

INSTANTIATE_TEST_SUITE_P(AllShapes, RawQuotes,
                         testing::Combine(testing::ValuesIn(kBadNames), testing::Bool()),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param).what;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name + (std::get<1>(test.param) ? "_pretty" : "_compact");
                         });

TEST(Lenient, AQuoteInTheMiddleDoesNotHideTheValuesBehindTheList) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < 20; ++i)
    text += event(i == 5 ? "odd \" one" : "op", i, false) + (i < 19 ? "," : "");
  text += R"(], "distributedInfo": {"rank": 3, "world_size": 8}, "baseTimeNanoseconds": 17})";
  const Trace trace = kineto(text);
  EXPECT_EQ(trace.slice_count(), 20u);
  EXPECT_EQ(trace.meta().rank, 3);
  EXPECT_EQ(trace.meta().base_time, 17);
  EXPECT_EQ(losses(trace, "input_cut"), 0u);
}

TEST(Lenient, AQuoteInTheLastEventCostsNeitherItNorTheValuesBehindTheList) {
  for (const bool pretty : {false, true}) {
    const Trace trace = kineto(R"({"schemaVersion": 1, "traceEvents": [)" + event("a", 1, pretty) +
                               "," + event("odd \" one", 2, pretty) +
                               R"(], "pg": [{"a": 1}], "baseTimeNanoseconds": 17})");
    EXPECT_EQ(names(trace), (std::vector<std::string>{"a", "odd \" one"}));
    EXPECT_EQ(trace.meta().base_time, 17);
    EXPECT_EQ(losses(trace, "input_cut"), 0u);
    EXPECT_EQ(losses(trace, "event_mended"), 1u);
  }
}

TEST(Lenient, AQuoteInTheLastEventOfAPlainListCostsNothing) {
  const std::string list = event("a", 1, false) + "," + event("odd \" one", 2, false);
  for (const std::string& text :
       {"[" + list + "]", "[" + list + "\n]\n", R"({"traceEvents": [)" + list + "]}"}) {
    const Trace trace = kineto(text);
    EXPECT_EQ(names(trace), (std::vector<std::string>{"a", "odd \" one"})) << text;
    EXPECT_EQ(losses(trace, "input_cut"), 0u) << text;
  }
}

TEST(Lenient, AQuoteInALargeFileCostsNoEvent) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  constexpr int kEvents = 200'000;  // about 18 MB: more than one look-ahead
  for (int i = 0; i < kEvents; ++i) text += event(i == 1000 ? "odd \" one" : "op", i, false) + ",";
  text += event("last", kEvents, false) + "]}";
  const Trace trace = kineto(text);
  EXPECT_EQ(trace.slice_count(), static_cast<std::size_t>(kEvents) + 1);
  EXPECT_EQ(losses(trace, "event_mended"), 1u);
}

TEST(Lenient, AnEventThatCannotBeMendedIsCountedAndTheNextOnesAreRead) {
  const Trace trace = kineto(kineto_text(
      event("a", 1, false) + R"(, {"ph": "X" "name": oops, "ts": 5}, )" + event("b", 2, false)));
  EXPECT_EQ(names(trace), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(losses(trace, "event_unreadable"), 1u);
}

TEST(Lenient, SplitLenientlyCutsWhereAnEventKeyFollowsABorder) {
  const std::string text = R"({"ph":"X","name":"a"}, {"name":"b","args":{"k":[{"x":1},{"y":2}]}},
    { "cat" : "c"})";
  const std::vector<std::string_view> pieces = split_leniently(text);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0], R"({"ph":"X","name":"a"})");
  EXPECT_EQ(pieces[1], R"({"name":"b","args":{"k":[{"x":1},{"y":2}]}})");
  EXPECT_EQ(pieces[2], R"({ "cat" : "c"})");
}

TEST(Lenient, LastEventBoundaryIsBehindTheLastEventButOne) {
  const std::string first = R"({"ph":"X"})";
  EXPECT_EQ(last_event_boundary(first + R"(, {"ph":"Y")"), first.size());
  EXPECT_EQ(last_event_boundary(first), std::string_view::npos);
  EXPECT_EQ(last_event_boundary(""), std::string_view::npos);
}

TEST(Lenient, MendedEventsThatWereGoodStayAsTheyAre) {
  const std::string good =
      R"({"ph":"X","name":"a \"b\"","args":{"Input type":["float","int"],"Call stack":"x;y"}})";
  std::string mended;
  mend_quotes(good, mended);
  EXPECT_EQ(mended, good);
}

}  // namespace
}  // namespace sonde
