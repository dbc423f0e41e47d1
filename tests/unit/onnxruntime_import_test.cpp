#include "import/onnxruntime/onnxruntime.hpp"

#include <gtest/gtest.h>

#include <string>

#include "import/chrome/chrome.hpp"
#include "import/loader.hpp"
#include "import/onnxruntime/event.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using test::losses;
using test::slice_named;

std::string event(const std::string& category, const std::string& name, long ts, long dur,
                  const std::string& args = "") {
  return "{\"cat\" : \"" + category +
         "\",\"pid\" :470,\"tid\" :471,\"dur\" :" + std::to_string(dur) +
         ",\"ts\" :" + std::to_string(ts) + ",\"ph\" : \"X\",\"name\" :\"" + name +
         "\",\"args\" : {" + args + "}}";
}

Trace read(const std::string& events) {
  const std::string text = "[\n" + events + "\n]\n";
  EXPECT_TRUE(looks_like_onnxruntime(text));
  return test::import_or_fail(text, import_onnxruntime);
}

TEST(OnnxruntimeImport, NodesAreOperatorsWithShapesAndArguments) {
  const Trace trace = read(
      event("Session", "model_loading_uri", 0, 5) + ",\n" +
      event("Node", "mm0_kernel_time", 20, 10,
            R"("op_name" : "MatMul","provider" : "CPUExecutionProvider","node_index" : "7",)"
            R"("mem_bytes_in_use" : "4096","input_type_shape" : [{"float":[64,256]},{"int64":[]}],)"
            R"("output_type_shape" : [{"float":[64,256]}],"thread_scheduling_stats" : )"
            R"({"main_thread": {"thread_pool_name": "p", "thread_id": "1", "block_size": [1],)"
            R"( "core": 3, "Run": 27}, "sub_threads": {"8": {"num_run": 2, "core": 1},)"
            R"("9": {"num_run": 5, "core": 2}}})") +
      ",\n" + event("Session", "SequentialExecutor::Execute", 15, 20) + ",\n" +
      event("Session", "model_run", 10, 30));
  const SliceId node = slice_named(trace, "MatMul");
  ASSERT_TRUE(node.valid());
  EXPECT_EQ(trace.slices().kind(node), SliceKind::Operator);
  EXPECT_EQ(trace.slices().start(node), 20'000);
  EXPECT_EQ(trace.slices().duration(node), 10'000);
  EXPECT_EQ(trace.slices().parent(node), slice_named(trace, "SequentialExecutor::Execute"));
  const OperatorInputs& inputs = trace.inputs(trace.operators().find(node)->inputs);
  EXPECT_EQ(trace.text(inputs.shapes), "[[64,256],[]]");
  EXPECT_EQ(trace.text(inputs.types), R"(["float","int64"])");
  const auto args = trace.arguments().of(node);
  ASSERT_EQ(args.size(), 9u);
  EXPECT_EQ(trace.text(args[0].text()), "mm0");
  EXPECT_EQ(trace.text(args[1].text()), "CPUExecutionProvider");
  EXPECT_EQ(args[2].integer(), 7);
  EXPECT_EQ(args[4].type(), ArgType::Json);
  EXPECT_EQ(trace.text(args[6].key()), "main_thread Run");
  EXPECT_EQ(args[6].integer(), 27);
  EXPECT_EQ(args[7].integer(), 2);
  EXPECT_EQ(args[8].integer(), 7);
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_EQ(trace.counters()[0].value, 4096);
  const SliceId run = slice_named(trace, "model_run#1");
  EXPECT_EQ(trace.slices().kind(run), SliceKind::Step);
  EXPECT_EQ(trace.meta().properties[0].second, R"({"CPUExecutionProvider": 1})");
  EXPECT_TRUE(trace.losses().empty());
}

TEST(OnnxruntimeImport, KernelsLieOnStreams) {
  const Trace trace =
      read(event("Node", "mm0_kernel_time", 20, 10, R"("op_name" : "MatMul")") + ",\n" +
           event("Api", "cudaLaunchKernel", 21, 2) + ",\n" +
           event("Kernel", "gemm<float>", 25, 40,
                 R"("stream" : "7","grid_x" : "4","grid_y" : "2","grid_z" : "1","block_x" : "32",)"
                 R"("block_y" : "1","block_z" : "1","op_name" : "MatMul")") +
           ",\n" + event("Kernel", "MemcpyHostToDevice", 5, 1, R"("stream" : "7","bytes" : "64")"));
  const SliceId kernel = slice_named(trace, "gemm<float>");
  EXPECT_EQ(trace.slices().kind(kernel), SliceKind::Kernel);
  EXPECT_EQ(trace.track(trace.slices().track(kernel)).type, TrackType::Stream);
  EXPECT_EQ(trace.device_work().find(kernel)->grid, (std::array<std::int32_t, 3>{4, 2, 1}));
  ASSERT_EQ(trace.arguments().of(kernel).size(), 1u);
  EXPECT_EQ(trace.text(trace.arguments().of(kernel)[0].text()), "MatMul");
  const SliceId copy = slice_named(trace, "MemcpyHostToDevice");
  EXPECT_EQ(trace.slices().kind(copy), SliceKind::Memcpy);
  EXPECT_EQ(trace.device_work().find(copy)->bytes, 64);
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "cudaLaunchKernel")), SliceKind::Runtime);
}

TEST(OnnxruntimeImport, RawQuotesInNodeNamesAreMended) {
  const Trace trace = read(event("Node", "a_kernel_time", 1, 1) + ",\n" +
                           event("Node", "odd \"name\"_kernel_time", 3, 1) + ",\n" +
                           event("Node", "b_kernel_time", 5, 1));
  EXPECT_TRUE(slice_named(trace, "a").valid());
  EXPECT_TRUE(slice_named(trace, "b").valid());
  EXPECT_TRUE(slice_named(trace, "odd \"name\"").valid());
  EXPECT_EQ(losses(trace, "event_mended"), 1u);
}

TEST(OnnxruntimeImport, FencesCutFilesAndOddTimes) {
  const Trace trace =
      read(event("Node", "a_fence_before", 1, 0) + ",\n" + event("Other", "thing", 2, 2) + ",\n" +
           event("Node", "c_kernel_time", 5, -3) +
           ",\n{\"cat\" : \"Node\",\"ts\" : \"soon\",\"name\" :\"d\"}");
  EXPECT_EQ(trace.slices().kind(slice_named(trace, "a_fence_before")), SliceKind::Other);
  EXPECT_EQ(losses(trace, "time_unusable"), 1u);
  EXPECT_EQ(losses(trace, "duration_unusable"), 1u);
  const std::string cut = "[\n" + event("Node", "a_kernel_time", 1, 1) + ",\n" +
                          event("Node", "b_kernel_time", 3, 1).substr(0, 40);
  const Trace half = test::import_or_fail(cut, import_onnxruntime);
  EXPECT_EQ(half.slice_count(), 1u);
  EXPECT_EQ(losses(half, "input_cut"), 1u);
}

TEST(OnnxruntimeImport, OtherTracesAreNotMistaken) {
  EXPECT_FALSE(looks_like_onnxruntime(R"([{"cat": "Kernel", "name": "x"}])"));
  EXPECT_FALSE(looks_like_onnxruntime(R"([{"name": "x", "cat": "Node"}])"));
  EXPECT_FALSE(looks_like_onnxruntime(R"({"traceEvents": []})"));
}

TEST(OnnxruntimeImport, ShapesOfOtherFormsAreLeft) {
  std::string shapes;
  std::string types;
  EXPECT_TRUE(onnxruntime::split_type_shapes("[]", shapes, types));
  EXPECT_EQ(shapes, "[]");
  EXPECT_FALSE(onnxruntime::split_type_shapes("[{}]", shapes, types));
  EXPECT_FALSE(onnxruntime::split_type_shapes(R"([{"float":3}])", shapes, types));
  EXPECT_FALSE(onnxruntime::split_type_shapes("", shapes, types));
}

TEST(OnnxruntimeImport, ReadsARealProfile) {
  const Result<Trace> trace =
      load_trace(std::string(SONDE_TEST_DATA) + "/onnxruntime_profile.json");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->meta().format, "onnxruntime");
  EXPECT_EQ(trace->slice_count(), 52u);
  Nanos matmul = 0;
  for (const SliceId slice : all_slices(*trace)) {
    if (trace->name(slice) == "MatMul") matmul += trace->slices().duration(slice);
  }
  EXPECT_EQ(matmul, 857'000);
  EXPECT_TRUE(trace->losses().empty());
}

}  // namespace
}  // namespace sonde
