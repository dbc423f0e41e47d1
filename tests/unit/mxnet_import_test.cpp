#include <gtest/gtest.h>

#include <string>

#include "import/chrome/chrome.hpp"
#include "import/mxnet/mxnet.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::losses;
using test::slice_named;

const std::string kHeader = "{\n    \"traceEvents\": [\n";
const std::string kEnding = "\n\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n";

// A metadata block, an event block and a pair of them in MXNet's layout.
std::string device(const std::string& name, int pid) {
  return "        {\n            \"ph\": \"M\",\n            \"args\": {\n                "
         "\"name\": \"" +
         name + "\"\n            },\n            \"pid\": " + std::to_string(pid) +
         ",\n            \"name\": \"process_name\"\n        }";
}

std::string block(const std::string& name, const std::string& category, const std::string& phase,
                  long ts, const std::string& pid, const std::string& tid) {
  return "    {\n        \"name\": \"" + name + "\",\n        \"cat\": \"" + category +
         "\",\n        \"ph\": \"" + phase + "\",\n        \"ts\": " + std::to_string(ts) +
         ",\n        \"pid\": " + pid + ",\n        \"tid\": " + tid + "\n    }\n";
}

std::string pair(const std::string& name, const std::string& category, const std::string& phases,
                 long begin, long end, const std::string& pid,
                 const std::string& tid = "17343844709549807314") {
  return block(name, category, phases.substr(0, 1), begin, pid, tid) + ",\n" +
         block(name, category, phases.substr(1, 1), end, pid, tid);
}

const std::string kOperatorPid = "3060606181218273969";

std::string event(const std::string& name, long begin, long end, const std::string& pid = "1") {
  return pair(name, "operator", "BE", begin, end, pid);
}

std::string task(const std::string& name, long begin, long end) {
  return pair(name, "operator", "be", begin, end, kOperatorPid);
}

Trace mxnet(const std::string& text, unsigned threads = 1) {
  EXPECT_TRUE(looks_like_mxnet(text)) << text.substr(0, 200);
  return test::import_or_fail(text, import_mxnet, threads);
}

std::size_t count(const Trace& trace, SliceKind kind) {
  std::size_t out = 0;
  for (const SliceId slice : all_slices(trace)) out += trace.slices().kind(slice) == kind;
  return out;
}

TEST(MxnetImport, OperatorLiesOnItsDeviceAndItsSecondRecordDoesNotCount) {
  const Trace trace = mxnet(kHeader + device("cpu/0", 0) + ",\n" + device("gpu/0", 1) + ",\n\n" +
                            event("dot", 1000, 1250) + ",\n" + task("dot", 1001, 1249) + kEnding);
  ASSERT_EQ(trace.slice_count(), 2u);
  const SliceId op(0u);
  EXPECT_EQ(trace.slices().kind(op), SliceKind::Operator);
  EXPECT_EQ(trace.slices().duration(op), 250'000);
  const Track& track = trace.track(trace.slices().track(op));
  EXPECT_EQ(trace.text(track.process), "gpu/0");
  EXPECT_EQ(trace.text(track.name), "17343844709549807314");
  EXPECT_EQ(track.device, 0);
  EXPECT_EQ(trace.meta().device_family, "CUDA");
  ASSERT_EQ(trace.meta().devices.size(), 1u);
  EXPECT_EQ(trace.meta().devices[0].name, "gpu/0");
  EXPECT_EQ(trace.slices().kind(SliceId(1u)), SliceKind::Other);
  EXPECT_EQ(trace.text(*trace.categories().find(SliceId(1u))), "operator");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(MxnetImport, TaskWithoutAnEventIsAnOperator) {
  const Trace trace =
      mxnet(kHeader + device("cpu/0", 0) + ",\n\n" + event("Op::dot", 1000, 1250, "0") + ",\n" +
            pair("Op::pure_python", "Custom Operator", "be", 900, 1400, "77777777777") + ",\n" +
            task("Op::dot", 1700, 1750) + kEnding);
  EXPECT_EQ(count(trace, SliceKind::Operator), 3u);
  EXPECT_EQ(trace.meta().version, "MXNet 1.6 or newer");
}

TEST(MxnetImport, EachEventHasAtMostOneTask) {
  std::string text = kHeader + device("cpu/0", 0);
  for (int i = 0; i < 20; ++i)
    text += ",\n\n" + event("DeleteVariable", 100 + 3 * i, 102 + 3 * i, "0");
  for (int i = 0; i < 21; ++i) text += ",\n" + task("DeleteVariable", 100 + 3 * i, 102 + 3 * i);
  const Trace trace = mxnet(text + kEnding);
  EXPECT_EQ(count(trace, SliceKind::Operator), 21u);
  EXPECT_EQ(count(trace, SliceKind::Other), 20u);
}

TEST(MxnetImport, KindsOfEverythingElse) {
  const Trace trace = mxnet(
      kHeader + device("cpu/0", 0) + ",\n" +
      pair("MXNDArrayFree", "MXNET_C_API", "be", 10, 10, "849786139768988538") + ",\n" +
      pair("forward", "train", "be", 20, 30, "501") + ",\n" +
      pair("batch", "train,frame", "()", 20, 40, "502") + ",\n" +
      pair("save", "event", "BE", 20, 50, "4711471147114711") + ",\n" +
      block("epoch", "train,instant_marker", "n", 5, "503", "1") + ",\n" +
      block("start", "train,instant_marker", "i", 6, "503", "1") + ",\n" +
      R"({"name": "loss", "cat": "train", "ph": "C", "ts": 41, "args": { "loss": 7 }, "pid": 501, "tid": 1})" +
      kEnding);
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "MXNDArrayFree")), SliceKind::Api);
  for (const char* name : {"forward", "batch", "save"}) {
    EXPECT_EQ(trace.slices().kind(slice_named(trace, name)), SliceKind::UserRange) << name;
  }
  EXPECT_EQ(trace.text(*trace.categories().find(slice_named(trace, "batch"))), "train,frame");
  EXPECT_EQ(trace.markers().size(), 2u);
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_EQ(trace.counters()[0].value, 7);
  EXPECT_EQ(trace.text(trace.track(trace.counters()[0].track).process), "train");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(MxnetImport, MemoryCountersAreAllocationsToo) {
  const auto memory = [](const std::string& name, long ts, long value) {
    return R"({"name": ")" + name + R"(", "cat": "Device Storage", "ph": "C", "ts": )" +
           std::to_string(ts) + R"(, "args": { ")" + name + R"(": )" + std::to_string(value) +
           R"( }, "pid": 9785678402843609691, "tid": 1})";
  };
  const Trace trace = mxnet(
      kHeader + memory("Memory: gpu/1", 30, 50) + ",\n" + memory("Memory: gpu/1", 10, 100) + ",\n" +
      memory("Memory: cpu/0", 20, 8) + ",\n" + memory("Memory: cpu pinned/", 20, 8) + kEnding);
  EXPECT_EQ(trace.counters().size(), 4u);
  ASSERT_EQ(trace.allocations().size(), 3u);
  const Allocation& first = trace.allocations()[0];
  const Allocation& second = trace.allocations()[1];
  EXPECT_EQ(first.bytes, 100);
  EXPECT_EQ(second.bytes, -50);
  EXPECT_EQ(second.total_allocated, 50);
  EXPECT_EQ(second.device_type, 1);
  EXPECT_EQ(second.device, 1);
  EXPECT_TRUE(trace.meta().profile_memory);
}

TEST(MxnetImport, PairsByAdjacencyNotByTime) {
  // On one thread the second call began before the first one ended.
  const std::string pid = "849786139768988538";
  const Trace trace = mxnet(kHeader + pair("MXCall", "MXNET_C_API", "be", 100, 200, pid) + ",\n" +
                            pair("MXCall", "MXNET_C_API", "be", 150, 160, pid) + ",\n" +
                            pair("MXCall", "MXNET_C_API", "be", 120, 121, pid) + kEnding);
  ASSERT_EQ(trace.slice_count(), 3u);
  EXPECT_EQ(trace.slices().duration(SliceId(0u)), 100'000);
  EXPECT_EQ(trace.slices().duration(SliceId(1u)), 10'000);
  EXPECT_EQ(trace.slices().duration(SliceId(2u)), 1'000);
}

TEST(MxnetImport, GenerationAHasOneCategoryAndRelativeTimes) {
  const Trace trace = mxnet(kHeader + device("cpu/0", 0) + ",\n" +
                            pair("dot", "category", "BE", 100, 250, "0", "3") +
                            ",\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n");
  EXPECT_EQ(trace.meta().version, "MXNet 1.1 or older");
  EXPECT_FALSE(trace.meta().wall_clock);
  ASSERT_EQ(trace.slice_count(), 1u);
  EXPECT_EQ(trace.slices().kind(SliceId(0u)), SliceKind::Operator);
  EXPECT_EQ(trace.categories().size(), 0u);
}

TEST(MxnetImport, TimesSinceTheEpochAreWallClock) {
  const Trace trace = mxnet(kHeader + device("cpu/0", 0) + ",\n" +
                            event("dot", 1559670489000100, 1559670489000200, "0") + kEnding);
  EXPECT_TRUE(trace.meta().wall_clock);
  EXPECT_EQ(trace.meta().version, "MXNet 1.2 or newer");
}

TEST(MxnetImport, EmptyListOfGenerationAIsNoError) {
  const Trace trace =
      mxnet(kHeader + device("cpu/0", 0) + ",\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n");
  EXPECT_EQ(trace.slice_count(), 0u);
}

TEST(MxnetDetection, TakesWhatIsItsOwnAndNothingElse) {
  EXPECT_TRUE(looks_like_mxnet("{\"traceEvents\": [" + device("gpu/0", 0) + "]}"));
  EXPECT_FALSE(
      looks_like_mxnet(R"({"traceEvents": [{"ph": "X", "cat": "operator", "name": "a"}]})"));
  EXPECT_FALSE(looks_like_mxnet(R"([{"name": "a", "cat": "operator", "ph": "B", "ts": 1}])"));
  EXPECT_FALSE(looks_like_mxnet("some text about MXNET_C_API"));
  EXPECT_FALSE(looks_like_mxnet(""));
}

// Broken files, in the order in which MXNet's users meet them.

TEST(MxnetBroken, ContinuousDumpWithoutAnEnd) {
  const std::string text = kHeader + device("cpu/0", 0) + ",\n\n" + event("a", 10, 20, "0");
  const Trace trace = mxnet(text);
  EXPECT_EQ(trace.slice_count(), 1u);
  EXPECT_EQ(losses(trace, "dump_unfinished"), 1u);
  const std::string more = text + ",\n\n" + event("b", 30, 40, "0");
  const Trace cut = mxnet(more.substr(0, more.size() - 30));
  EXPECT_EQ(cut.slice_count(), 1u);
  EXPECT_EQ(losses(cut, "input_cut"), 1u);
  EXPECT_EQ(losses(cut, "begin_without_end"), 1u);
}

TEST(MxnetBroken, RecordsBehindTheEndAndASecondEnd) {
  const Trace trace =
      mxnet(kHeader + device("cpu/0", 0) + ",\n\n" + event("a", 10, 20, "0") + kEnding + ",\n\n" +
            event("b", 30, 40, "0") + kEnding + ",\n\n" + event("c", 50, 60, "0") + kEnding);
  EXPECT_EQ(test::names(trace), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(losses(trace, "dump_appended"), 2u);
  EXPECT_EQ(losses(trace, "dump_unfinished"), 0u);
  EXPECT_EQ(losses(trace, "text_between_events"), 0u);
}

TEST(MxnetBroken, CommaRightBehindTheBracketAndNoNames) {
  const Trace trace = mxnet("{\n    \"traceEvents\": [,\n\n" + event("a", 10, 20, "32") + ",\n" +
                            task("a", 11, 19) + kEnding);
  ASSERT_EQ(trace.slice_count(), 2u);
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(SliceId(0u))).process), "device 32");
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(SliceId(1u))).process), "operator");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(MxnetBroken, FragmentsWithoutBeginningOrEnd) {
  const std::string whole = event("a", 10, 20, "0") + ",\n\n" + event("b", 30, 40, "0");
  const Trace last = mxnet(",\n\n" + whole + kEnding);
  EXPECT_EQ(last.slice_count(), 2u);
  EXPECT_EQ(losses(last, "dump_without_beginning"), 1u);
  const Trace middle = mxnet(",\n\n" + whole);
  EXPECT_EQ(middle.slice_count(), 2u);
  EXPECT_EQ(losses(middle, "dump_unfinished"), 1u);
  const Trace bare = mxnet(whole);
  EXPECT_EQ(bare.slice_count(), 2u);
  // The tail of an event first: its begin is gone.
  const Trace torn = mxnet(whole.substr(30));
  EXPECT_EQ(torn.slice_count(), 1u);
  EXPECT_EQ(losses(torn, "text_between_events"), 1u);
  EXPECT_EQ(losses(torn, "end_without_begin"), 1u);
}

TEST(MxnetBroken, SeveralProcessesOnOneFile) {
  const std::string a = kHeader + device("cpu/0", 0) + ",\n\n" + event("a", 10, 20, "0") + ",\n\n" +
                        event("b", 30, 40, "0") + kEnding;
  const std::string b = kHeader + device("cpu/0", 0) + ",\n\n" + event("c", 15, 25, "0") + kEnding;
  // One dump inside of the other, at every place: what is whole is found, all others are counted.
  for (std::size_t at = 0; at <= a.size(); ++at) {
    const std::string text = a.substr(0, at) + b + a.substr(at);
    const Trace trace = test::import_or_fail(text, import_mxnet);
    EXPECT_TRUE(slice_named(trace, "c").valid()) << "at " << at;
    EXPECT_GE(trace.slice_count(), 2u) << "at " << at;
  }
}

TEST(MxnetBroken, DumpsEndsTheFile) {
  // A finished file is all that dumps() leaves; a following dump() writes nothing.
  const Trace trace = mxnet(kHeader + device("cpu/0", 0) + kEnding);
  EXPECT_EQ(trace.slice_count(), 0u);
  EXPECT_EQ(losses(trace, "dump_unfinished"), 0u);
}

TEST(MxnetBroken, RawQuotesAndBracesInNames) {
  const Trace trace =
      mxnet(kHeader + device("cpu/0", 0) + ",\n\n" + event("a \\\"b\\\" {", 10, 20, "0") + ",\n\n" +
            event("say \"hi\" {x", 30, 40, "0") + ",\n\n" + event("c", 50, 60, "0") + kEnding);
  EXPECT_EQ(trace.slice_count(), 3u);
  EXPECT_TRUE(slice_named(trace, "say \"hi\" {x").valid());
}

TEST(MxnetBroken, IdsUseAll64Bits) {
  const Trace trace =
      mxnet(kHeader + device("cpu/0", 0) + ",\n\n" +
            pair("a", "operator", "BE", 1, 2, "0", "18446744073709551614") + ",\n\n" +
            pair("b", "operator", "BE", 1, 2, "0", "18446744073709551615") + kEnding);
  ASSERT_EQ(trace.slice_count(), 2u);
  EXPECT_NE(trace.slices().track(SliceId(0u)), trace.slices().track(SliceId(1u)));
  EXPECT_EQ(trace.text(trace.track(trace.slices().track(SliceId(1u))).name),
            "18446744073709551615");
}

TEST(MxnetBroken, ThreadsAndBlocksDoNotShow) {
  std::string text = kHeader + device("cpu/0", 0);
  for (int i = 0; i < 6000; ++i)
    text += ",\n\n" + event("op" + std::to_string(i % 7), 10 * i, 10 * i + 5, "0");
  for (int i = 0; i < 6000; ++i)
    text += ",\n" + task("op" + std::to_string(i % 7), 10 * i, 10 * i + 5);
  const Trace one = mxnet(text + kEnding, 1);
  const Trace four = mxnet(text + kEnding, 4);
  EXPECT_EQ(count(one, SliceKind::Operator), 6000u);
  EXPECT_EQ(count(one, SliceKind::Other), 6000u);
  EXPECT_EQ(test::names(one), test::names(four));
  EXPECT_TRUE(one.losses().empty());
}

}  // namespace
}  // namespace sonde
