#include "import/json/event_splitter.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

struct Split {
  std::vector<std::string> events;
  std::vector<std::uint64_t> offsets;
  Metadata metadata;
  LossLedger losses;
  bool found_array = false;
  bool last_is_cut = false;
};

Split split(std::string_view text) {
  const std::unique_ptr<ByteSource> source = make_plain_source(make_memory_reader(text), {});
  EventSplitter splitter(*source);
  EventBlock block;
  Split out;
  for (std::uint64_t sequence = 0;; ++sequence) {
    const Result<bool> more = splitter.next(block);
    EXPECT_TRUE(more.ok());
    if (!more || !*more) break;
    EXPECT_EQ(block.sequence, sequence);
    EXPECT_FALSE(block.events.empty());
    for (const EventSpan& span : block.events) {
      out.events.emplace_back(block.event(span));
      out.offsets.push_back(block.offset + span.begin);
      EXPECT_EQ(text.substr(out.offsets.back(), out.events.back().size()), out.events.back());
    }
    out.last_is_cut = block.last_is_cut;
  }
  out.metadata = splitter.metadata();
  out.losses = splitter.losses();
  out.found_array = splitter.found_events_array();
  EXPECT_EQ(splitter.bytes_read(), text.size());
  return out;
}

using Texts = std::vector<std::string>;

TEST(EventSplitter, ObjectFormGivesEventsAndTheOtherKeys) {
  const Split got = split(R"({"schemaVersion": 1, "list": [1, {"a": "]"}], "traceEvents": [
    {"a": 1}, {"b": {"c": 2}}], "traceName": "x", "last": null})");
  EXPECT_EQ(got.events, (Texts{R"({"a": 1})", R"({"b": {"c": 2}})"}));
  EXPECT_EQ(got.metadata, (Metadata{{"schemaVersion", "1"},
                                    {"list", R"([1, {"a": "]"}])"},
                                    {"traceName", "\"x\""},
                                    {"last", "null"}}));
  EXPECT_TRUE(got.found_array);
  EXPECT_TRUE(got.losses.empty());
}

TEST(EventSplitter, ArrayFormWithAndWithoutItsEnd) {
  for (const char* text : {R"([{"a":1},{"b":2}])", R"([{"a":1},{"b":2})", "[{\"a\":1},{\"b\":2},\n",
                           R"(  [ {"a":1} , {"b":2} ] )"}) {
    const Split got = split(text);
    EXPECT_EQ(got.events, (Texts{R"({"a":1})", R"({"b":2})"})) << text;
    EXPECT_TRUE(got.losses.empty()) << text;
  }
}

TEST(EventSplitter, AByteOrderMarkIsNoObstacle) {
  EXPECT_EQ(split("\xEF\xBB\xBF[{\"a\":1}]").events, (Texts{R"({"a":1})"}));
}

TEST(EventSplitter, AnObjectThatNobodyClosedIsReportedAsCut) {
  const Split got = split(R"({"traceEvents": [{"a":1},{"b":2}, )");
  EXPECT_EQ(got.events.size(), 2u);
  EXPECT_NE(got.losses.find("input_cut"), nullptr);
}

TEST(EventSplitter, TheEventInWhichTheInputEndsIsMarkedAsCut) {
  const Split got = split(R"({"traceEvents": [{"a":1},{"b":)");
  EXPECT_EQ(got.events, (Texts{R"({"a":1})", R"({"b":)"}));
  EXPECT_TRUE(got.last_is_cut);
}

TEST(EventSplitter, BracesAndEscapedQuotesInStringsDoNotCount) {
  const Split got = split(R"([{"a":"}{\"}\\"},{"b":"\\\\\""}])");
  EXPECT_EQ(got.events, (Texts{R"({"a":"}{\"}\\"})", R"({"b":"\\\\\""})"}));
}

TEST(EventSplitter, EscapesMayLieAcrossEveryWordBorder) {
  const std::string expected_tail = R"({"z":"\\"})";
  for (std::size_t shift = 0; shift < 140; ++shift) {
    for (const char* body : {R"(\")", R"(\\)", R"(\\\")", R"(\\\\)", R"(\"}{\")"}) {
      const std::string first = "{\"a\":\"" + std::string(shift, 'x') + body + "\"}";
      const Split got = split("[" + first + "," + expected_tail + "]");
      ASSERT_EQ(got.events, (Texts{first, expected_tail})) << shift << " " << body;
    }
  }
}

TEST(EventSplitter, ThingsThatAreNoEventsArePassedOverAndCounted) {
  const Split got = split(
      R"({"traceEvents": [1, "two", {"ph":"a"}, null, [{"ph":"inner"}, "]"], {"ph":"b"}, "end"], "k": 1})");
  EXPECT_EQ(got.events, (Texts{R"({"ph":"a"})", R"({"ph":"b"})"}));
  ASSERT_NE(got.losses.find("not_an_event"), nullptr);
  EXPECT_EQ(got.losses.find("not_an_event")->count, 5u);
  EXPECT_EQ(got.metadata, (Metadata{{"k", "1"}})) << "what follows the list is still found";
  EXPECT_EQ(got.losses.find("input_cut"), nullptr);
}

TEST(EventSplitter, AStrayQuoteBetweenEventsDoesNotSwallowTheRest) {
  std::string text = R"({"traceEvents": [{"ph":"X"}, "lost": "x", "y}, )";
  for (int i = 0; i < 100; ++i) text += R"({"ph": "X", "name": "n"}, )";
  text += R"({"ph":"Z"}], "k": 1})";
  const Split got = split(text);
  EXPECT_EQ(got.events.size(), 102u);
  EXPECT_EQ(got.events.back(), R"({"ph":"Z"})");
  EXPECT_EQ(got.metadata, (Metadata{{"k", "1"}}));
}

TEST(EventSplitter, ABraceTooManyCostsNoEvent) {
  const Split got = split(R"([{"ph":"a"}}, {"ph":"b"}])");
  EXPECT_EQ(got.events, (Texts{R"({"ph":"a"})", R"({"ph":"b"})"}));
  EXPECT_NE(got.losses.find("not_an_event"), nullptr);
}

TEST(EventSplitter, BehindADamagedTopLevelValueTheEventsAreStillFound) {
  const Split got = split(R"({"note": "a "raw" quote", "traceEvents": [{"ph":"a"}], "k": 2})");
  EXPECT_EQ(got.events, (Texts{R"({"ph":"a"})"}));
  EXPECT_NE(got.losses.find("metadata_damaged"), nullptr);
}

TEST(EventSplitter, TextBehindTheEndIsReported) {
  EXPECT_NE(split(R"([{"a":1}] trailing)").losses.find("text_after_trace"), nullptr);
  EXPECT_NE(split(R"({"traceEvents":[]} {"traceEvents":[]})").losses.find("text_after_trace"),
            nullptr);
}

TEST(EventSplitter, JsonWithoutEventsHasNoList) {
  for (const char* text :
       {"{}", R"({"a": [1, 2]})", "5", "\"traceEvents\"", R"({"traceEvents": 5})"}) {
    const Split got = split(text);
    EXPECT_FALSE(got.found_array) << text;
    EXPECT_TRUE(got.events.empty()) << text;
  }
}

TEST(EventSplitter, EmptyListsAreLists) {
  for (const char* text : {"[]", "[", R"({"traceEvents":[]})", R"({"traceEvents":[)"}) {
    const Split got = split(text);
    EXPECT_TRUE(got.found_array) << text;
    EXPECT_TRUE(got.events.empty()) << text;
  }
}

TEST(EventSplitter, AnEventOfTenMegabytesIsOneEvent) {
  const std::string big = "{\"name\":\"" + std::string(10'000'000, '{') + "\"}";
  const Split got = split("[{\"a\":1}," + big + ",{\"b\":2}]");
  ASSERT_EQ(got.events.size(), 3u);
  EXPECT_EQ(got.events[1], big);
  EXPECT_EQ(got.events[2], "{\"b\":2}");
}

TEST(EventSplitter, AnEventThatNeverEndsIsGivenUpInBoundedMemory) {
  const std::string text = "[{\"name\":\"" + std::string(100'000'000, 'x');
  const std::unique_ptr<ByteSource> source = make_plain_source(make_memory_reader(text), {});
  EventSplitter splitter(*source);
  EventBlock block;
  std::size_t largest = 0;
  for (;;) {
    const Result<bool> more = splitter.next(block);
    ASSERT_TRUE(more.ok());
    if (!*more) break;
    largest = std::max(largest, block.text.size());
  }
  EXPECT_LE(largest, 160'000'000u);
}

TEST(EventSplitter, MillionsOfTopLevelKeysTakeBoundedMemory) {
  std::string text = "{";
  for (int i = 0; i < 2'000'000; ++i) text += "\"\":1,";
  text += "\"traceEvents\":[{\"a\":1}]}";
  const Split got = split(text);
  EXPECT_EQ(got.events.size(), 1u);
  EXPECT_LE(got.metadata.size() * sizeof(got.metadata[0]), kMaxMetadataBytes);
  EXPECT_NE(got.losses.find("metadata_too_long"), nullptr);
}

// Events as one pass over the characters finds them, for well-formed text only.
Texts split_one_by_one(std::string_view text) {
  Texts events;
  std::size_t begin = 0;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = text.find('[') + 1; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_string = false;
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text[i] == '{') {
      if (depth++ == 0) begin = i;
    } else if (text[i] == '}') {
      if (--depth == 0) events.emplace_back(text.substr(begin, i + 1 - begin));
      if (depth < 0) break;
    }
  }
  return events;
}

std::string random_string(std::mt19937& random) {
  constexpr std::string_view kParts[] = {
      "{", "}", "[", "]", ",", ":", "\\\"", "\\\\", "x", "\\n", " ", "\\u0041", "abcdefghijklmnop"};
  std::string out = "\"";
  for (std::uint32_t i = random() % 12; i > 0; --i) out += kParts[random() % std::size(kParts)];
  return out + "\"";
}

std::string random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 3 ? 3 : 5)) {
    case 0:
      return std::to_string(random() % 1000);
    case 1:
      return random_string(random);
    case 2:
      return "null";
    case 3: {
      std::string out = "[";
      for (std::uint32_t i = random() % 4; i > 0; --i)
        out += random_value(random, depth + 1) + (i > 1 ? ", " : "");
      return out + "]";
    }
    default: {
      std::string out = "{";
      for (std::uint32_t i = random() % 4; i > 0; --i) {
        out += random_string(random) + ": " + random_value(random, depth + 1) + (i > 1 ? "," : "");
      }
      return out + "}";
    }
  }
}

std::string random_event(std::mt19937& random) {
  return "{\"ph\": \"X\", \"name\": " + random_string(random) +
         ", \"args\": " + random_value(random, 0) + "}";
}

TEST(EventSplitterProperty, RandomDocumentsSplitAsOneCharacterAtATimeSplitsThem) {
  std::mt19937 random(9);
  for (int round = 0; round < 400; ++round) {
    const bool object = random() % 2 == 0;
    std::string text = object ? "{\"traceEvents\":[" : "[";
    const std::uint32_t count = random() % 40;
    for (std::uint32_t i = 0; i < count; ++i) {
      text += random_event(random);
      if (i + 1 < count) text += random() % 2 ? "," : " ,\n  ";
    }
    text += object ? "]}" : "]";
    const Split got = split(text);
    ASSERT_EQ(got.events, split_one_by_one(text)) << text;
    ASSERT_TRUE(got.losses.empty()) << text;
  }
}

TEST(EventSplitterProperty, BlockBordersFallAnywhereWithoutASign) {
  // Blocks are half a megabyte: events of many lengths let the borders fall at every kind of place.
  std::mt19937 random(10);
  for (int round = 0; round < 8; ++round) {
    std::string text = "{\"traceEvents\":[" + std::string(random() % 200, ' ');
    while (text.size() < 3 * kBlockBytes) text += random_event(random) + ",";
    text += "{\"last\":1}], \"after\": \"value\"}";
    const Split got = split(text);
    ASSERT_EQ(got.events, split_one_by_one(text));
    ASSERT_EQ(got.metadata, (Metadata{{"after", "\"value\""}}));
    ASSERT_TRUE(got.losses.empty());
  }
}

TEST(EventSplitterProperty, ADocumentOverTheBorderOfABlockAtEveryPlace) {
  const std::string tail =
      R"({"ph":"X","name":"a\"b\\","args":{"k":[{"x":"}"}]}} , 7, {"ph":"Y"}],"meta":{"a":"\""},"n":12})";
  for (std::size_t i = 0; i <= tail.size() + 1; ++i) {
    const std::string head = "{\"traceEvents\":[";
    const std::string text = head + std::string(kBlockBytes - head.size() - i, ' ') + tail;
    const Split got = split(text);
    ASSERT_EQ(got.events.size(), 2u) << i;
    ASSERT_EQ(got.events[1], R"({"ph":"Y"})") << i;
    ASSERT_EQ(got.metadata, (Metadata{{"meta", R"({"a":"\""})"}, {"n", "12"}})) << i;
    ASSERT_EQ(got.losses.find("not_an_event")->count, 1u) << i;
  }
}

TEST(EventSplitterProperty, EveryCutOfADocumentKeepsTheEventsBeforeIt) {
  const std::string text =
      R"({"schemaVersion": 1, "traceEvents": [{"ph":"X","name":"a{\"}\\"}, {"ph":"Y","args":{"b":[{}]}}, {"ph":"Z"}], "n": 12})";
  const Texts whole = split_one_by_one(text);
  for (std::size_t cut = text.find('['); cut < text.size(); ++cut) {
    const Split got = split(text.substr(0, cut));
    std::size_t complete = got.events.size();
    if (got.last_is_cut) --complete;
    std::size_t expected = 0;
    while (expected < whole.size() && text.find(whole[expected]) + whole[expected].size() <= cut)
      ++expected;
    ASSERT_EQ(complete, expected) << cut;
    for (std::size_t i = 0; i < complete; ++i) ASSERT_EQ(got.events[i], whole[i]);
  }
}

TEST(EventSplitterProperty, RandomBytesNeverBreakIt) {
  std::mt19937 random(11);
  constexpr std::string_view kChars = "{}[]\",:\\ \n1a";
  for (int round = 0; round < 3'000; ++round) {
    std::string text = random() % 2 ? "[" : "{\"traceEvents\":[";
    for (std::uint32_t i = random() % 300; i > 0; --i) text += kChars[random() % kChars.size()];
    split(text);
  }
}

}  // namespace
}  // namespace sonde
