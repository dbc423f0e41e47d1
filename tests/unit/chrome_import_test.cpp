#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::chrome;
using test::losses;
using test::names;
using test::slice_named;

// "name start duration" of every slice, in microseconds of the file.
std::vector<std::string> slices(const Trace& trace) {
  std::vector<std::string> out;
  for (const SliceId slice : all_slices(trace)) {
    out.push_back(std::string(trace.name(slice)) + " " +
                  std::to_string((trace.slices().start(slice) + trace.meta().origin) / 1000) + " " +
                  std::to_string(trace.slices().duration(slice) / 1000));
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(ChromeImport, BeginAndEndMakeASliceAlsoOutOfOrder) {
  const Trace trace = chrome(R"([
    {"ph":"E","name":"a","pid":1,"tid":1,"ts":10},
    {"ph":"B","name":"b","pid":1,"tid":1,"ts":2},
    {"ph":"B","name":"a","pid":1,"tid":1,"ts":1},
    {"ph":"E","name":"b","pid":1,"tid":1,"ts":5}])");
  EXPECT_EQ(slices(trace), (Texts{"a 1 9", "b 2 3"}));
  EXPECT_EQ(trace.slices().parent(slice_named(trace, "b")), slice_named(trace, "a"));
  EXPECT_TRUE(trace.losses().empty());
}

TEST(ChromeImport, AnEndWithoutNameClosesTheInnermostSlice) {
  const Trace trace = chrome(
      R"([{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","ts":3},{"ph":"E","ts":9}])");
  EXPECT_EQ(slices(trace), (Texts{"a 1 8", "b 2 1"}));
}

TEST(ChromeImport, AnEndThatCrossesClosesTheSliceOfItsName) {
  const Trace trace = chrome(
      R"([{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","name":"a","ts":3},{"ph":"E","name":"b","ts":9}])");
  EXPECT_EQ(slices(trace), (Texts{"a 1 2", "b 2 7"}));
}

TEST(ChromeImport, UnmatchedHalvesAreCounted) {
  const Trace trace = chrome(
      R"([{"ph":"E","name":"x","ts":0},{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","name":"c","ts":7}])");
  EXPECT_EQ(slices(trace), (Texts{"a 1 6", "b 2 5"}));
  EXPECT_EQ(losses(trace, "end_without_begin"), 1u);
  EXPECT_EQ(losses(trace, "begin_without_end"), 1u);
  EXPECT_EQ(losses(trace, "end_name_mismatch"), 1u);
}

TEST(ChromeImport, OverlappingCompleteEventsAreBothKept) {
  const Trace trace =
      chrome(R"([{"ph":"X","name":"a","ts":0,"dur":10},{"ph":"X","name":"b","ts":5,"dur":10}])");
  EXPECT_EQ(slices(trace), (Texts{"a 0 10", "b 5 10"}));
  EXPECT_FALSE(trace.slices().parent(slice_named(trace, "b")).valid());
}

TEST(ChromeImport, AsyncEventsGetALaneForEachCategoryAndId) {
  const Trace trace = chrome(R"([
    {"ph":"b","cat":"net","id":"0x1","name":"get","pid":1,"tid":1,"ts":1},
    {"ph":"b","cat":"net","id":"0x2","name":"get","pid":1,"tid":1,"ts":2},
    {"ph":"n","cat":"net","id":"0x1","name":"header","pid":1,"tid":3,"ts":3},
    {"ph":"e","cat":"net","id":"0x1","name":"get","pid":1,"tid":2,"ts":5},
    {"ph":"e","cat":"net","id":"0x2","name":"get","pid":1,"tid":1,"ts":9}])");
  EXPECT_EQ(slices(trace), (Texts{"get 1 4", "get 2 7"}));
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.tracks()[0].type, TrackType::Async);
  EXPECT_EQ(trace.text(trace.tracks()[0].name), "net:0x1");
  ASSERT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(trace.text(trace.markers()[0].name), "header");
}

TEST(ChromeImport, TheOldAsyncPhasesMeanTheSame) {
  const Trace trace = chrome(R"([
    {"ph":"S","cat":"c","id":7,"name":"job","pid":1,"tid":1,"ts":1},
    {"ph":"T","cat":"c","id":7,"name":"job","pid":1,"tid":1,"ts":2},
    {"ph":"p","cat":"c","id":7,"name":"job","pid":1,"tid":1,"ts":3},
    {"ph":"F","cat":"c","id":7,"name":"job","pid":1,"tid":1,"ts":6}])");
  EXPECT_EQ(slices(trace), (Texts{"job 1 5"}));
  EXPECT_EQ(trace.markers().size(), 2u);
}

TEST(ChromeImport, CountersHaveAValueForEachSeries) {
  const Trace trace = chrome(R"([
    {"ph":"C","name":"mem","pid":1,"tid":1,"ts":1,"args":{"used":5,"free":2.5}},
    {"ph":"C","name":"mem","pid":1,"tid":1,"ts":2,"args":{"used":"7"}},
    {"ph":"C","name":"mem","pid":1,"tid":1,"ts":3,"args":{"used":"many","free":1e400}},
    {"ph":"C","name":"mem","pid":1,"tid":1,"ts":4,"args":{}}])");
  ASSERT_EQ(trace.counters().size(), 3u);
  EXPECT_EQ(trace.text(trace.counters()[0].series), "used");
  EXPECT_DOUBLE_EQ(trace.counters()[0].value, 5);
  EXPECT_EQ(trace.text(trace.counters()[1].series), "free");
  EXPECT_DOUBLE_EQ(trace.counters()[1].value, 2.5);
  EXPECT_DOUBLE_EQ(trace.counters()[2].value, 7);
  EXPECT_EQ(losses(trace, "counter_unusable"), 2u);
}

TEST(ChromeImport, FlowsLinkTheSlicesAroundTheirEnds) {
  const Trace trace = chrome(R"([
    {"ph":"X","name":"outer","pid":1,"tid":1,"ts":0,"dur":100},
    {"ph":"X","name":"from","pid":1,"tid":1,"ts":10,"dur":10},
    {"ph":"X","name":"via","pid":1,"tid":2,"ts":30,"dur":10},
    {"ph":"X","name":"to","pid":1,"tid":3,"ts":50,"dur":10},
    {"ph":"f","cat":"c","name":"x","id":9,"pid":1,"tid":3,"ts":55,"bp":"e"},
    {"ph":"s","cat":"c","name":"x","id":9,"pid":1,"tid":1,"ts":15},
    {"ph":"t","cat":"c","name":"x","id":9,"pid":1,"tid":2,"ts":35},
    {"ph":"s","cat":"d","name":"x","id":9,"pid":1,"tid":1,"ts":25},
    {"ph":"f","cat":"d","name":"x","id":9,"pid":1,"tid":2,"ts":30,"bp":"e"},
    {"ph":"f","cat":"c","name":"x","id":10,"pid":1,"tid":3,"ts":55}])");
  const Links& flows = trace.flows();
  EXPECT_EQ(flows.source(slice_named(trace, "to")), slice_named(trace, "via"));
  EXPECT_EQ(flows.source(slice_named(trace, "via")), slice_named(trace, "from"))
      << "of two arrows to one slice the first is kept";
  EXPECT_EQ(losses(trace, "loose_flow"), 1u);
}

TEST(ChromeImport, SampleEventsTakeTheirStackFromTheFramesOfTheFile) {
  const Trace trace = chrome(R"({"traceEvents": [
    {"ph":"P","name":"cpu","pid":1,"tid":1,"ts":5,"sf":"3"},
    {"ph":"P","name":"cpu","pid":1,"tid":1,"ts":6,"sf":3},
    {"ph":"P","name":"bare","pid":1,"tid":1,"ts":7}],
    "stackFrames": {"1":{"name":"main","category":"app"},"2":{"name":"f","parent":"1"},"3":{"name":"g","parent":2}}})");
  ASSERT_EQ(trace.samples().size(), 3u);
  Texts stack;
  for (StackId at = trace.samples()[0].stack; at.valid(); at = trace.stacks()[at.index()].caller) {
    stack.emplace_back(trace.text(trace.stacks()[at.index()].function));
  }
  EXPECT_EQ(stack, (Texts{"g", "f", "main"}));
  EXPECT_EQ(trace.samples()[1].stack, trace.samples()[0].stack);
  EXPECT_EQ(trace.text(trace.stacks()[trace.samples()[2].stack.index()].function), "bare");
}

TEST(ChromeImport, FramesThatCallThemselvesInARingEnd) {
  const Trace trace = chrome(R"({"traceEvents": [{"ph":"P","name":"cpu","ts":5,"sf":"1"}],
    "stackFrames": {"1":{"name":"a","parent":"2"},"2":{"name":"b","parent":"1"}}})");
  ASSERT_EQ(trace.samples().size(), 1u);
  EXPECT_EQ(trace.stacks().size(), 2u);
}

TEST(ChromeImport, TheSampleListMayHaveItsNumbersInQuotes) {
  const Trace trace = chrome(R"({"traceEvents": [], "stackFrames": {"1":{"name":"main"}},
    "samples": [{"ts":"1000.5","tid":"7","weight":"2","sf":1},{"ts":1002,"tid":"7","weight":3,"sf":1},
                {"ts":1003.25,"tid":"8","sf":1},{"ts":"soon","sf":1},{"sf":1},{"ts":1e300},5]})");
  ASSERT_EQ(trace.samples().size(), 3u);
  EXPECT_EQ(trace.meta().origin, 1'000'500);
  EXPECT_EQ(trace.samples()[1].time, 1'500);
  EXPECT_EQ(trace.samples()[2].time, 2'750);
  EXPECT_DOUBLE_EQ(trace.samples()[0].weight, 2);
  EXPECT_DOUBLE_EQ(trace.samples()[1].weight, 3);
  EXPECT_DOUBLE_EQ(trace.samples()[2].weight, 1);
  EXPECT_NE(trace.samples()[2].track, trace.samples()[0].track);
  EXPECT_EQ(losses(trace, "sample_unusable"), 4u);
}

TEST(ChromeImport, MetadataNamesProcessesAndThreads) {
  const Trace trace = chrome(R"([
    {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"trainer"}},
    {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"CPU"}},
    {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":5}},
    {"ph":"M","name":"thread_name","pid":1,"tid":7,"ts":"0","args":{"name":"main \u00e9"}},
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":7,"args":{"sort_index":-2}},
    {"ph":"M","name":"num_cpus","pid":1,"args":{"number":8}},
    {"ph":"X","name":"a","pid":1,"tid":7,"ts":1,"dur":1},
    {"ph":"X","name":"b","pid":"text","tid":"worker","ts":1,"dur":1}])");
  const Track& named = trace.track(trace.slices().track(slice_named(trace, "a")));
  EXPECT_EQ(trace.text(named.process), "trainer");
  EXPECT_EQ(trace.text(named.labels), "CPU");
  EXPECT_EQ(trace.text(named.name), "main \xC3\xA9");
  EXPECT_EQ(named.sort_index, -2);
  const Track& texts = trace.track(trace.slices().track(slice_named(trace, "b")));
  EXPECT_EQ(trace.text(texts.process), "text");
  EXPECT_EQ(trace.text(texts.name), "worker");
  EXPECT_EQ(losses(trace, "unknown_metadata"), 1u);
  EXPECT_EQ(losses(trace, "time_as_text"), 0u) << "metadata has no time";
}

TEST(ChromeImport, EveryPhaseIsUsedOrCounted) {
  const Trace trace = chrome(R"([
    {"ph":"i","name":"a","ts":1,"s":"g"},{"ph":"I","name":"b","ts":1},{"ph":"R","name":"c","ts":1},
    {"ph":"N","name":"o","ts":1},{"ph":"O","name":"o","ts":1},{"ph":"D","name":"o","ts":1},
    {"ph":"V","name":"v","ts":1},{"ph":"v","name":"v","ts":1},{"ph":"c","name":"c","ts":1},{"ph":"(","name":"c","ts":1},
    {"ph":"q","name":"?","ts":1},{"name":"no phase","ts":1},{"ph":5,"name":"?","ts":1}])");
  EXPECT_EQ(trace.markers().size(), 3u);
  EXPECT_EQ(trace.markers()[0].scope, 'g');
  EXPECT_EQ(losses(trace, "object_events"), 3u);
  EXPECT_EQ(losses(trace, "unused_phase"), 4u);
  EXPECT_EQ(losses(trace, "unknown_phase"), 3u);
  EXPECT_EQ(trace.meta().file_events, 13u);
}

TEST(ChromeImport, UnknownCategoriesAreUserRangesThatKeepTheirCategory) {
  const Trace trace = chrome(R"([{"ph":"X","cat":"toplevel","name":"a","ts":1,"dur":1}])");
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "a")), SliceKind::UserRange);
  EXPECT_EQ(trace.text(*trace.categories().find(slice_named(trace, "a"))), "toplevel");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(ChromeImport, TopLevelKeysAreKeptAsProperties) {
  const Trace trace =
      chrome(R"({"displayTimeUnit":"ns","otherData":{"version":"1"},"traceEvents":[]})");
  EXPECT_EQ(trace.meta().properties,
            (std::vector<std::pair<std::string, std::string>>{
                {"displayTimeUnit", "\"ns\""}, {"otherData", R"({"version":"1"})"}}));
}

// Files of other tools; they lie beside the source tree on some machines only.
struct ForeignFile {
  const char* file;
  std::vector<std::string> slices;
  std::map<std::string, std::uint64_t> losses;
};

class ForeignFiles : public testing::TestWithParam<ForeignFile> {};

TEST_P(ForeignFiles, ReadAsTheirNamesSay) {
  const std::filesystem::path path =
      std::filesystem::path(SONDE_SHARED_DATA) / "chrome-trace" / GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const Result<Trace> trace = load_trace(path.string(), {1, {}});
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  EXPECT_EQ(trace->meta().format, "chrome");
  EXPECT_EQ(slices(*trace), GetParam().slices);
  std::map<std::string, std::uint64_t> counted;
  for (const LossLedger::Entry& entry : trace->losses().entries())
    counted[entry.name] = entry.count;
  EXPECT_EQ(counted, GetParam().losses);
}

INSTANTIATE_TEST_SUITE_P(
    All, ForeignFiles,
    testing::Values(ForeignFile{"simple-partial.json",
                                {"gamma 2 5", "epsilon 7 0", "alpha 0 14", "beta 1 12"},
                                {{"duration_missing", 1}}},
                    ForeignFile{"simple-partial-trailing-comma.json",
                                {"gamma 2 5", "epsilon 7 0", "alpha 0 14", "beta 1 12"},
                                {{"duration_missing", 1}}},
                    ForeignFile{"simple-partial-whitespace.json",
                                {"gamma 2 5", "epsilon 7 0", "alpha 0 14", "beta 1 12"},
                                {{"duration_missing", 1}}},
                    ForeignFile{"simple.json",
                                {"gamma 2 5", "epsilon 7 0", "alpha 0 14", "beta 1 12"},
                                {{"duration_missing", 1}}},
                    ForeignFile{"out-of-order.json", {"A 0 10", "B 1 8", "C 2 6"}, {}},
                    ForeignFile{"mismatched-name.json", {"alpha 0 10"}, {{"end_name_mismatch", 1}}},
                    ForeignFile{"unbalanced-name.json", {"alpha 0 9", "beta 1 9"}, {}},
                    ForeignFile{"not-enough-end-events.json",
                                {"A 10 1", "A 0 1", "A 1 0"},
                                {{"begin_without_end", 2}}},
                    ForeignFile{"only-begin-events.json",
                                {"A 0 2", "B 1 1", "C 2 0"},
                                {{"begin_without_end", 3}}},
                    ForeignFile{"invalid-x-nesting.json", {"alpha 0 10", "beta 5 10"}, {}},
                    ForeignFile{"event-reordering-name-match.json",
                                {"alpha 0 10", "beta 1 1", "gamma 1 1"},
                                {{"argument_replaced", 2}}}),
    [](const auto& test) {
      std::string name = test.param.file;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

TEST(ForeignFolder, EveryFileReadsAndTheSamplesAreThere) {
  const std::filesystem::path folder = std::filesystem::path(SONDE_SHARED_DATA) / "chrome-trace";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Result<Trace> trace = load_trace(entry.path().string());
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    EXPECT_EQ(losses(*trace, "event_unreadable"), 0u) << entry.path();
    EXPECT_EQ(losses(*trace, "sample_unusable"), 0u) << entry.path();
    if (entry.path().filename() == "simple-with-samples.json") {
      EXPECT_EQ(trace->samples().size(), 7u);
    }
    ++files;
  }
  EXPECT_GT(files, 20u);
}

// Key and value of each argument, as a reader of the trace sees them.
template <class Owner>
std::string shown(const Trace& trace, std::span<const Argument<Owner>> arguments) {
  std::string out;
  for (const Argument<Owner>& a : arguments) {
    out += std::string(trace.text(a.key())) + "=";
    if (a.type() == ArgType::Integer)
      out += std::to_string(a.integer()) + ";";
    else if (a.type() == ArgType::Real)
      out += std::to_string(a.real()) + ";";
    else
      out += (a.type() == ArgType::Json ? "json " : "") + std::string(trace.text(a.text())) + ";";
  }
  return out;
}

TEST(ChromeArguments, AreKeptWithTheirSlices) {
  const Trace trace = chrome(R"([
    {"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1,"args":{"n":-3,"x":0.5,"t":"say \"hi\"","l":[1,{"k":2}],"b":true}},
    {"ph":"B","name":"b","ts":3,"pid":1,"tid":1,"args":{"in":1,"both":1}},
    {"ph":"E","name":"b","ts":4,"pid":1,"tid":1,"args":{"out":2,"both":3}},
    {"ph":"X","name":"c","ts":5,"dur":1,"pid":1,"tid":1}])");
  const auto of = [&](std::string_view name) {
    return shown(trace, trace.arguments().of(test::slice_named(trace, name)));
  };
  EXPECT_EQ(of("a"), "n=-3;x=0.500000;t=say \"hi\";l=json [1,{\"k\":2}];b=json true;");
  EXPECT_EQ(of("b"), "in=1;out=2;both=3;");
  EXPECT_EQ(losses(trace, "argument_replaced"), 1u);
  EXPECT_EQ(of("c"), "");
}

TEST(ChromeArguments, AreKeptWithTheirInstants) {
  const Trace trace = chrome(
      R"([{"ph":"i","name":"i","cat":"mine","ts":1,"pid":1,"tid":1,"s":"g","args":{"why":"because"}}])");
  ASSERT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(trace.text(trace.markers()[0].category), "mine");
  EXPECT_EQ(shown(trace, trace.marker_arguments().of(MarkerId(0u))), "why=because;");
}

TEST(ChromeArguments, OfKinetoThatHaveNoColumnAreKeptToo) {
  const Trace trace = test::kineto(test::kineto_text(
      R"({"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1,"pid":1,"tid":1,"args":{"External id":7,"kernel_file":"k.py","Record function id":0}})"));
  EXPECT_EQ(shown(trace, trace.arguments().of(SliceId(0u))), "kernel_file=k.py;");
}

}  // namespace
}  // namespace sonde
