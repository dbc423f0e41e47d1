#include "import/execution_trace/execution_trace.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "import/loader.hpp"
#include "import/memory_timeline/memory_timeline.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

using protozero::pbf_writer;
using test::losses;
using test::slice_named;

TEST(ExecutionTraceImport, OldSchema) {
  const std::string text = R"json({"schema": "1.0.1", "pid": 5, "nodes": [
    {"name": "[pytorch|profiler|execution_trace|thread]", "id": 2, "rf_id": 0, "parent": 1,
     "scope": 7, "tid": 1},
    {"name": "aten::empty", "id": 6, "rf_id": 4, "parent": 4, "seq_id": -1, "scope": 0, "tid": 1,
     "op_schema": "", "inputs": [[2, 2], "<None>"], "input_shapes": [[], []],
     "input_types": ["Int", "None"], "outputs": [[11, 12, 0, 4, 4, "cuda:0"]],
     "output_shapes": [[2, 2]], "output_types": ["Tensor(float)"]},
    {"name": "aten::rand", "id": 4, "rf_id": 3, "parent": 2, "seq_id": 9, "scope": 0, "tid": 1},
    {"name": "RandBackward", "id": 8, "rf_id": 5, "parent": 2, "seq_id": 9, "scope": 1, "tid": 1,
     "fw_tid": 1, "fw_parent": 4},
    {"id": 9}]
})json";
  EXPECT_TRUE(looks_like_execution_trace(text));
  const Trace trace = test::import_or_fail(text, import_execution_trace);
  ASSERT_EQ(trace.slice_count(), 4u);
  const SliceId empty = slice_named(trace, "aten::empty");
  const SliceId rand = slice_named(trace, "aten::rand");
  EXPECT_EQ(trace.slices().parent(empty), rand);
  EXPECT_EQ(trace.slices().kind(trace.slices().parent(rand)), SliceKind::Span);
  EXPECT_EQ(trace.slices().kind(empty), SliceKind::Operator);
  EXPECT_EQ(trace.operators().find(empty)->external_id, 4);
  const OperatorInputs& inputs = trace.inputs(trace.operators().find(empty)->inputs);
  EXPECT_EQ(trace.text(inputs.types), R"(["Int","None"])");
  EXPECT_EQ(trace.text(inputs.concrete), R"([[2,2],"<None>"])");
  EXPECT_EQ(trace.forward_to_backward().source(slice_named(trace, "RandBackward")), rand);
  EXPECT_EQ(losses(trace, "odd_nodes"), 1u);
  EXPECT_EQ(losses(trace, "no_times"), 1u);
}

TEST(ExecutionTraceImport, ChakraSchemaAndCycles) {
  const std::string text = R"json({"schema": "1.0.2-chakra.0.0.4", "pid": 5, "nodes": [
    {"id": 3, "name": "record_param_comms", "ctrl_deps": 2, "inputs": {"values": [[1, 2]],
     "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}, "outputs": {"values": [],
     "shapes": [], "types": []}, "attrs": [{"name": "rf_id", "type": "uint64", "value": 6},
     {"name": "tid", "type": "uint64", "value": 2}, {"name": "pg_name", "type": "string",
     "value": "0"}, {"name": "scope", "type": "uint64", "value": 7}]
},
    {"id": 2, "name": "a", "ctrl_deps": [7], "attrs": []},
    {"id": 7, "name": "b", "ctrl_deps": [2], "attrs": []}]
})json";
  EXPECT_TRUE(looks_like_execution_trace(text));
  const Trace trace = test::import_or_fail(text, import_execution_trace);
  const SliceId comms = slice_named(trace, "record_param_comms");
  EXPECT_EQ(trace.slices().kind(comms), SliceKind::UserRange);
  EXPECT_EQ(trace.track(trace.slices().track(comms)).tid, 2);
  EXPECT_EQ(trace.text(trace.inputs(trace.operators().find(comms)->inputs).strides), "[[1]]");
  EXPECT_EQ(trace.text(trace.arguments().of(comms).back().key()), "pg_name");
  EXPECT_EQ(losses(trace, "cyclic_nodes"), 3u);
}

TEST(ExecutionTraceImport, DeepTreesAreNoTrouble) {
  std::string text = R"({"schema": "1", "nodes": [{"name": "n", "id": 1, "rf_id": 0, "parent": 0})";
  for (int i = 2; i < 20000; ++i) {
    text += ",{\"name\": \"n\", \"id\": " + std::to_string(i) +
            ", \"parent\": " + std::to_string(i - 1) + "}";
  }
  const Trace trace = test::import_or_fail(text + "]}", import_execution_trace);
  EXPECT_EQ(trace.slices().depth(SliceId(std::uint32_t{19998})), 19998u);
}

TEST(ExecutionTraceImport, ReadsRealTraces) {
  const std::string folder = std::string(SONDE_SHARED_DATA) + "/chakra-et/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const auto& [name, nodes] : {std::pair{"benchmark_simple_add_et.json.gz", 38u},
                                    {"chakra_1.0.2-chakra.0.0.4.json.gz", 263u}}) {
    const Result<Trace> trace = load_trace(folder + name);
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_EQ(trace->meta().format, "execution_trace");
    EXPECT_EQ(trace->slice_count(), nodes);
    EXPECT_EQ(trace->losses().entries().size(), 1u);  // no_times
  }
}

std::string message(const std::function<void(pbf_writer&)>& fill) {
  std::string out;
  pbf_writer writer(out);
  fill(writer);
  return out;
}

// A message with its length before it.
std::string delimited(const std::function<void(pbf_writer&)>& fill) {
  const std::string body = message(fill);
  EXPECT_LT(body.size(), 128u);
  return std::string(1, static_cast<char>(body.size())) + body;
}

std::string chakra_node(std::uint64_t id, const std::string& name, int type, std::uint64_t start,
                        std::uint64_t duration, std::uint64_t dependency) {
  return delimited([&](pbf_writer& n) {
    n.add_uint64(1, id);
    n.add_string(2, name);
    n.add_enum(3, type);
    if (dependency != 0) n.add_uint64(5, dependency);
    n.add_uint64(6, start);
    n.add_uint64(7, duration);
    n.add_message(10, message([](pbf_writer& a) {
                    a.add_string(1, "comm_size");
                    a.add_int64(9, 64);
                  }));
    n.add_message(10, message([](pbf_writer& a) {
                    a.add_string(1, "is_cpu_op");
                    a.add_bool(27, true);
                  }));
  });
}

TEST(ChakraImport, NodesTypesTimesAndDependencies) {
  const std::string head = delimited([](pbf_writer& m) { m.add_string(1, "0.0.4"); });
  const std::string text = head + chakra_node(1, "matmul", 4, 10, 5, 0) +
                           chakra_node(2, "allreduce", 7, 15, 20, 1) +
                           chakra_node(3, "load", 2, 1, 1, 99);
  EXPECT_TRUE(looks_like_chakra(text));
  const Trace trace = test::import_or_fail(text, import_chakra);
  ASSERT_EQ(trace.slice_count(), 3u);
  const SliceId matmul = slice_named(trace, "matmul");
  const SliceId reduce = slice_named(trace, "allreduce");
  EXPECT_EQ(trace.slices().kind(matmul), SliceKind::Operator);
  EXPECT_EQ(trace.slices().kind(reduce), SliceKind::Communication);
  EXPECT_EQ(trace.slices().duration(reduce), 20'000);
  EXPECT_EQ(trace.flows().source(reduce), matmul);
  EXPECT_EQ(trace.arguments().of(matmul)[1].integer(), 64);
  EXPECT_EQ(trace.meta().version, "0.0.4");
  EXPECT_EQ(losses(trace, "open_dependencies"), 1u);
  const Trace cut = test::import_or_fail(text.substr(0, text.size() - 5), import_chakra);
  EXPECT_EQ(cut.slice_count(), 2u);
  EXPECT_EQ(losses(cut, "file_cut"), 1u);
  const Trace timeless = test::import_or_fail(
      head + chakra_node(1, "a", 4, 0, 5, 0) + chakra_node(2, "b", 4, 0, 7, 1), import_chakra);
  EXPECT_EQ(timeless.slices().start(slice_named(timeless, "b")), 5000);
  EXPECT_EQ(losses(timeless, "no_start_times"), 1u);
  EXPECT_FALSE(looks_like_chakra("\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"));
  EXPECT_FALSE(looks_like_chakra("plain text that is long enough"));
}

TEST(MemoryTimelineImport, AllocationsAndCategories) {
  const std::string text =
      "[[-1, 1, 100, 0], [1000, 2, 50, 4], [2000, 3, -50, 4], [2000, 3, 50, 5], [3000, 4, -50, 5],"
      " [1, 9, 1, 1], [1, 2]]";
  EXPECT_TRUE(looks_like_memory_timeline(text));
  const Trace trace = test::import_or_fail(text, import_memory_timeline);
  ASSERT_EQ(trace.allocations().size(), 3u);
  EXPECT_EQ(trace.allocations()[0].time, 0);
  EXPECT_EQ(trace.text(trace.allocations()[0].tag), "Parameter");
  EXPECT_EQ(trace.allocations()[1].total_allocated, 150);
  EXPECT_EQ(trace.allocations()[2].total_allocated, 100);
  ASSERT_EQ(trace.counters().size(), 5u);
  EXPECT_EQ(trace.text(trace.counters()[3].series), "Gradient");
  EXPECT_EQ(trace.counters()[3].value, 50);
  EXPECT_EQ(losses(trace, "odd_entries"), 2u);
  EXPECT_FALSE(looks_like_memory_timeline("[[1, 2, 3], [4]]"));
  EXPECT_FALSE(looks_like_memory_timeline("[{\"ph\": \"X\"}]"));
}

TEST(MemoryTimelineImport, ReadsARealTimeline) {
  const std::string path =
      std::string(SONDE_SHARED_DATA) + "/kineto-hta/memory_analysis_memory_timeline.raw.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->meta().format, "memory_timeline");
  EXPECT_EQ(trace->meta().file_events, 16845u);
  EXPECT_EQ(trace->allocations().size(), 645u + 3345u + 3345u);
  EXPECT_TRUE(trace->losses().empty());
}

}  // namespace
}  // namespace sonde
