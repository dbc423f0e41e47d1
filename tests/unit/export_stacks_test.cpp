#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "analysis/call_sums.hpp"
#include "analysis/call_tree.hpp"
#include "export/text_forms.hpp"
#include "tests/support/export_text.hpp"
#include "tests/support/files.hpp"
#include "tests/support/rich_trace.hpp"

namespace sonde {
namespace {

using test::export_text;
using test::hostile_names;

Trace nested_trace() {
  TraceBuilder builder;
  Track track;
  track.pid = 1;
  track.tid = 2;
  track.name = builder.intern("main");
  const TrackId main = builder.add_track(track);
  const auto slice = [&](const char* name, Nanos start, Nanos length) {
    builder.add_slice(start, length, main, builder.intern(name), SliceKind::Operator);
  };
  slice("a", 0, 100);
  slice("b", 10, 30);
  slice("c", 15, 5);
  slice("b", 50, 20);
  slice("a", 200, 10);
  // Two children that overlap in part: what they cover together is not a's own.
  slice("d", 300, 100);
  slice("x", 310, 40);
  slice("y", 330, 40);
  builder.nest(1);
  return builder.finish();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(ExportStacks, CollapsedHasSelfTimes) {
  const test::Exported file = export_text("collapsed", nested_trace());
  EXPECT_EQ(lines(file.text),
            (std::vector<std::string>{"a 60", "a;b 45", "a;b;c 5", "d 40", "d;x 40", "d;y 40"}));
}

TEST(ExportStacks, CollapsedLinesCanBeReadWhateverTheNames) {
  const Trace trace = test::rich_trace();
  const test::Exported file = export_text("collapsed", trace);
  ASSERT_EQ(file.error, "");
  for (const std::string& line : lines(file.text)) {
    const std::size_t blank = line.rfind(' ');
    ASSERT_NE(blank, std::string::npos);
    EXPECT_EQ(line.find_first_not_of("0123456789", blank + 1), std::string::npos) << line;
    for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
  }
  EXPECT_NE(file.text.find("semi:colon 12 "), std::string::npos);
}

TEST(ExportStacks, SamplesKeepTheirTypesAndTracks) {
  const Trace trace = test::sampled_trace();
  const Result<std::vector<CallTree>> trees = build_call_trees(trace, {"", false});
  ASSERT_TRUE(trees.ok());
  EXPECT_EQ(trees->front().totals(0)[0],
            1000.0 * static_cast<double>(hostile_names().size()) + 3000);
  EXPECT_EQ(trees->front().totals(1)[0], 64.0 * static_cast<double>(hostile_names().size()));
  const test::Exported memory = export_text("collapsed", trace, "memory");
  EXPECT_NE(memory.text.find(" 64\n"), std::string::npos);
  EXPECT_EQ(export_text("collapsed", trace, "nonsense").error,
            "the trace has no weight 'nonsense' (it has cpu, alloc_space)");
}

TEST(ExportStacks, MemoryOfSlicesGoesToTheInnermost) {
  const test::Exported file = export_text("collapsed", test::rich_trace(), "memory");
  ASSERT_EQ(file.error, "");
  EXPECT_EQ(file.text, "Step#3;launch;tag<&> 512\n");
}

TEST(ExportStacks, SumsCountRecursionOnce) {
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  for (int depth = 0; depth < 3; ++depth)
    builder.add_slice(depth * 10, 100 - depth * 20, main, builder.intern("f"), SliceKind::Operator);
  builder.nest(1);
  const Trace trace = builder.finish();
  const Result<CallSums> sums = sum_calls(trace, "");
  ASSERT_TRUE(sums.ok());
  ASSERT_EQ(sums->functions.size(), 1u);
  EXPECT_EQ(sums->functions[0].calls, 3);
  EXPECT_EQ(sums->functions[0].primitive_calls, 1);
  EXPECT_EQ(sums->function_self[0], 100);
  EXPECT_EQ(sums->function_total[0], 100);
  ASSERT_EQ(sums->calls.size(), 1u);
  EXPECT_EQ(sums->calls[0].calls, 2);
  EXPECT_EQ(sums->call_total[0], 80);
}

TEST(ExportStacks, AnEmptyTraceIsToldApart) {
  const Trace empty = TraceBuilder().finish();
  for (const char* format :
       {"collapsed", "flamegraph", "speedscope", "pprof", "callgrind", "pstats", "dot"}) {
    EXPECT_EQ(export_text(format, empty).error,
              "the trace holds no stacks: neither samples nor slices, calls or allocations ('sonde "
              "info' tells what it holds)")
        << format;
  }
}

TEST(ExportStacks, AProfileOfCallersBecomesATree) {
  const test::Exported file = export_text("collapsed", test::profiled_trace());
  ASSERT_EQ(file.error, "");
  EXPECT_EQ(lines(file.text).size(), 3u);
  EXPECT_NE(file.text.find("<module> (train \"é\".py:1);step (train \"é\".py:10);<built-in method "
                           "builtins.len> 500000000\n"),
            std::string::npos)
      << file.text;
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_NE(file.notes[0].find("estimate"), std::string::npos);
}

// The brackets of each profile close in order, and times never go back.
TEST(ExportStacks, SpeedscopeIsBalanced) {
  const test::Exported file = export_text("speedscope", test::rich_trace());
  ASSERT_EQ(file.error, "");
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(file.text).get(root), simdjson::SUCCESS);
  const simdjson::dom::array frames = root["shared"]["frames"].get_array();
  std::size_t profiles = 0;
  std::size_t opened = 0;
  for (const simdjson::dom::element profile : root["profiles"].get_array()) {
    ++profiles;
    std::vector<std::uint64_t> open;
    double last = -1;
    for (const simdjson::dom::element event : profile["events"].get_array()) {
      const double at = event["at"].get_double();
      EXPECT_GE(at, last);
      last = at;
      const std::uint64_t frame = event["frame"].get_uint64();
      ASSERT_LT(frame, frames.size());
      if (std::string_view(event["type"]) == "O") {
        open.push_back(frame);
        ++opened;
      } else {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), frame);
        open.pop_back();
      }
    }
    EXPECT_TRUE(open.empty());
    EXPECT_GE(double(profile["endValue"]), last);
  }
  EXPECT_EQ(opened, test::rich_trace().slice_count());
  EXPECT_EQ(profiles, 5u) << "thread, stream, lane, and one overlap of two of them";
}

TEST(ExportStacks, SpeedscopeSamplesHaveWeights) {
  const test::Exported file = export_text("speedscope", test::sampled_trace());
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(file.text).get(root), simdjson::SUCCESS);
  std::size_t count = 0;
  for (const simdjson::dom::element profile : root["profiles"].get_array()) {
    ++count;
    EXPECT_EQ(profile["samples"].get_array().size(), profile["weights"].get_array().size());
    EXPECT_EQ(std::string_view(profile["type"]), "sampled");
  }
  EXPECT_EQ(count, 3u) << "cpu and memory of one thread, cpu of the other";
}

TEST(ExportStacks, CallgrindLinesFollowTheGrammar) {
  for (const Trace& trace : {test::rich_trace(), test::sampled_trace(), test::profiled_trace()}) {
    const test::Exported file = export_text("callgrind", trace);
    ASSERT_EQ(file.error, "");
    bool events = false;
    std::map<std::string, std::string> names;
    for (const std::string& line : lines(file.text)) {
      if (line.empty() || line[0] == '#') continue;
      if (line.starts_with("events:")) events = true;
      if (line.starts_with("summary:")) {
        EXPECT_TRUE(events) << "KCachegrind refuses it before events";
      }
      for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos || equals > 5 || line.starts_with("calls=")) continue;
      // "(id) name" defines, "(id)" refers: never two names for one id, never an id without one.
      std::string space = line.substr(0, equals);
      if (space.starts_with("c")) space = space.substr(1);
      space = space.substr(0, 2) == "fn" ? "fn" : space.substr(0, 2) == "ob" ? "ob" : "file";
      const std::string value = line.substr(equals + 1);
      const std::size_t close = value.find(')');
      ASSERT_EQ(value[0], '(') << line;
      ASSERT_NE(close, std::string::npos);
      const std::string id = space + value.substr(0, close + 1);
      if (close + 1 == value.size()) {
        EXPECT_TRUE(names.contains(id)) << line;
      } else {
        EXPECT_FALSE(names.contains(id)) << line;
        names[id] = value.substr(close + 2);
      }
    }
    EXPECT_TRUE(events);
  }
}

TEST(ExportStacks, DotQuotesNames) {
  const test::Exported file = export_text("dot", test::rich_trace());
  ASSERT_EQ(file.error, "");
  for (const std::string& line : lines(file.text)) {
    std::size_t quotes = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        ++quotes;
    }
    EXPECT_EQ(quotes % 2, 0u) << line;
  }
  EXPECT_NE(file.text.find("\\\"quoted\\\""), std::string::npos);
}

TEST(ExportStacks, FlamegraphEscapesEverything) {
  for (const char* weight : {"", "memory"}) {
    const test::Exported file =
        export_text("flamegraph", test::rich_trace(), weight, "title <&> ]]>");
    ASSERT_EQ(file.error, "");
    EXPECT_EQ(file.text.find("<script>alert"), std::string::npos);
    EXPECT_EQ(file.text.find("<img"), std::string::npos);
    EXPECT_NE(file.text.find("title &lt;&amp;&gt; ]]&gt;"), std::string::npos);
    EXPECT_EQ(file.text.find('\a'), std::string::npos);
    EXPECT_EQ(std::string_view(file.text).substr(file.text.size() - 7), "</svg>\n");
  }
}

TEST(ExportStacks, FlamegraphColoursAreStableByName) {
  const auto colour_of = [](const std::string& svg, const std::string& name) {
    const std::size_t at = svg.find("data-n=\"" + name + "\"");
    const std::size_t fill = svg.find("fill=\"", at);
    return svg.substr(fill, svg.find('"', fill + 6) - fill);
  };
  const std::string one = export_text("flamegraph", nested_trace()).text;
  const std::string other = export_text("flamegraph", test::rich_trace()).text;
  TraceBuilder builder;
  const TrackId track = builder.add_track({});
  builder.add_slice(0, 10, track, builder.intern("b"), SliceKind::Operator);
  builder.nest(1);
  const std::string third = export_text("flamegraph", builder.finish()).text;
  EXPECT_EQ(colour_of(one, "b"), colour_of(third, "b"));
  EXPECT_NE(colour_of(one, "a"), colour_of(one, "b"));
  EXPECT_FALSE(other.empty());
}

TEST(ExportStacks, PprofIsPackedAndSumsUp) {
  const test::Exported file = export_text("pprof", test::sampled_trace());
  ASSERT_EQ(file.error, "");
  const std::string message = test::gunzip(file.text);
  ASSERT_FALSE(message.empty());
  EXPECT_EQ(message[0], 0x0A) << "sample_type comes first: that is how readers know the format";
  EXPECT_NE(message.find("alloc_space"), std::string::npos);
  EXPECT_NE(message.find("nanoseconds"), std::string::npos);
}

TEST(ExportStacks, JsonTextIsCheckedWhole) {
  for (const char* good :
       {"1", "-0.5e+3", "\"a\\u00e9\"", "[]", "{\"a\": [1, null, true]}", " [1 , 2] "})
    EXPECT_TRUE(is_json_value(good)) << good;
  for (const char* bad : {"", "01", "1.", "[1,]", "{a: 1}", "\"\n\"", "\"\\x\"", "NaN", "[1] 2",
                          "'a'", "[", "\"\xff\""})
    EXPECT_FALSE(is_json_value(bad)) << bad;
  EXPECT_FALSE(is_json_value(std::string(100000, '['))) << "too deep, and no crash";
}

}  // namespace
}  // namespace sonde
