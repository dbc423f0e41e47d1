#include <gtest/gtest.h>

#include <filesystem>

#include "import/loader.hpp"
#include "import/tensorflow_json/tensorflow_json.hpp"
#include "import/xprof_tool/xprof_tool.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::losses;
using test::slice_named;

std::string data(const std::string& name) {
  return std::string(SONDE_TEST_DATA) + "/tensorflow/" + name;
}

Trace load(const std::string& path) {
  Result<Trace> trace = load_trace(path);
  EXPECT_TRUE(trace.ok()) << (trace ? "" : trace.error().text());
  return trace ? std::move(*trace) : TraceBuilder().finish();
}

Trace import(const std::string& events) {
  return test::import_or_fail(
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)" + events +
          "{}]}",
      import_tensorflow_json);
}

TEST(TensorflowJson, TheDerivedTimelineHasTheSlicesOfTheProfile) {
  const Trace profile = load(data("jax_gpu.xplane.pb"));
  const Trace timeline = load(data("jax_gpu.trace.json.gz"));
  EXPECT_EQ(timeline.meta().format, "tensorflow-json");
  EXPECT_EQ(timeline.slice_count(), profile.slice_count());
  EXPECT_EQ(timeline.launch_to_device().size(), profile.launch_to_device().size());
  std::map<std::pair<std::string, SliceKind>, std::pair<int, Nanos>> a;
  std::map<std::pair<std::string, SliceKind>, std::pair<int, Nanos>> b;
  const auto sum = [](const Trace& trace, auto& into) {
    for (const SliceId slice : all_slices(trace)) {
      auto& [count, time] = into[{std::string(trace.name(slice)), trace.slices().kind(slice)}];
      ++count;
      time += trace.slices().duration(slice);
    }
  };
  sum(profile, a);
  sum(timeline, b);
  EXPECT_EQ(a, b);
  const DeviceRow* row = timeline.device_work().find(slice_named(timeline, "gemm_fusion_dot_3"));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->registers, 184);
  EXPECT_EQ(row->grid[0], 128);
}

TEST(TensorflowJson, NamesComeFromMetadataEvents) {
  const Trace trace = import(
      R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:2"}},)"
      R"({"ph":"M","pid":1,"tid":5,"name":"thread_name","args":{"name":"Stream #5"}},)"
      R"({"ph":"X","pid":1,"tid":5,"ts":1.5,"dur":2.25,"name":"short","args":{"long_name":"the long one","correlation_id":"9"}},)");
  const SliceId slice = slice_named(trace, "short");
  ASSERT_TRUE(slice.valid());
  EXPECT_EQ(trace.slices().kind(slice), SliceKind::Kernel);
  EXPECT_EQ(trace.slices().duration(slice), 2250);
  EXPECT_EQ(trace.track(trace.slices().track(slice)).device, 2);
  EXPECT_EQ(trace.device_work().find(slice)->correlation, 9);
}

TEST(TensorflowJson, ATimelineOfTensorFlow1) {
  const Trace trace = load(data("tf1.timeline.json.gz"));
  EXPECT_EQ(trace.meta().producer, "TensorFlow 1 timeline");
  EXPECT_EQ(trace.slice_count(), 27u);
  EXPECT_EQ(trace.counters().size(), 44u);
  const SliceId op = slice_named(trace, "_MklMatMul");
  ASSERT_TRUE(op.valid());
  EXPECT_EQ(trace.slices().kind(op), SliceKind::Operator);
  EXPECT_EQ(trace.slices().duration(op) % 1000, 0);
  EXPECT_EQ(losses(trace, "tensor_object"), 66u);
}

TEST(TensorflowJson, DamageIsCounted) {
  const Trace trace = import(R"({"ph":"X","pid":1,"tid":5,"ts":"soon","dur":1,"name":"no time"},)"
                             R"({"ph":"X","pid":1,"tid":5,"ts":1e300,"dur":1,"name":"far"},)"
                             R"({"ph":"X","pid":1,"tid":5,"ts":4,"dur":-1,"name":"negative"},)"
                             R"({"ph":"X","pid":"x","tid":5,"ts":4 "dur":1,"name":"broken"},)"
                             R"({"ph":"q","pid":1,"tid":5,"ts":4,"name":"odd"},)");
  EXPECT_EQ(losses(trace, "bad_time"), 2u);
  EXPECT_EQ(losses(trace, "negative_duration"), 1u);
  EXPECT_EQ(losses(trace, "malformed_event"), 1u);
  EXPECT_EQ(losses(trace, "unknown_phase"), 1u);
}

TEST(XprofTool, AnswersAreRefusedWithAReason) {
  for (const std::string text :
       {R"([{"cols":[{"id":"rank","label":"Rank","type":"number"}],"rows":[]}])",
        R"({"memoryProfilePerAllocator":{}})", R"({"byCategory": {"name": "x"}})",
        R"({"hloInfoMap":{},"podStatsSequence":{}})", R"({"hloModule":{}})"}) {
    const test::ScratchFolder folder;
    const Result<Trace> trace = load_trace(folder.write("answer.json", text));
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.error().code, ErrorCode::Unsupported) << text;
    EXPECT_NE(trace.error().hint.find(".xplane.pb"), std::string::npos);
  }
  EXPECT_FALSE(looks_like_xprof_tool(R"({"traceEvents":[{"ph":"X","cols":1}]})"));
}

TEST(XprofTool, EveryFileOfTheDemoIsRefused) {
  namespace fs = std::filesystem;
  const fs::path folder = std::string(SONDE_SHARED_DATA) + "/xprof-demo";
  if (!fs::exists(folder)) GTEST_SKIP() << "needs the shared data";
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const Result<Trace> trace = load_trace(entry.path().string());
    ASSERT_FALSE(trace.ok()) << entry.path();
    EXPECT_EQ(trace.error().code, ErrorCode::Unsupported) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 8);
}

}  // namespace
}  // namespace sonde
