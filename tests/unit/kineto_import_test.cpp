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
using test::slice_named;

SliceKind kind_of(const Trace& trace, std::string_view name) {
  return trace.slices().kind(slice_named(trace, name));
}

TEST(KinetoImport, ThreadTextsOfTheFirstYearsAreTheNumbersOfToday) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"X","cat":"Operator","name":"op","pid":10,"tid":"25738","ts":1,"dur":9},
    {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":3,"dur":2,"args":{"stream":7,"device":0,"correlation":5}},
    {"ph":"X","cat":"User","name":"r","pid":0,"tid":"stream 7 annotations","ts":2,"dur":4},
    {"ph":"X","cat":"Kernel","name":"k2","pid":0,"tid":7,"ts":6,"dur":2})"));
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.tracks()[0].tid, 25738);
  EXPECT_EQ(trace.tracks()[0].type, TrackType::Thread);
  EXPECT_EQ(trace.tracks()[1].tid, 7);
  EXPECT_EQ(trace.tracks()[1].type, TrackType::Stream);
  EXPECT_EQ(trace.tracks()[1].device, 0);
  EXPECT_EQ(trace.tracks()[1].slices, 3u);
  EXPECT_EQ(kind_of(trace, "r"), SliceKind::DeviceRange);
}

TEST(KinetoImport, DeviceWorkFollowsItsLaunchWhicheverComesFirstInTheFile) {
  const Trace trace = kineto(kineto_text(R"json(
    {"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":30,"dur":2,"args":{"correlation":5,"External id":1}},
    {"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":0,"dur":20,"args":{"External id":1}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":5,"dur":2,"args":{"correlation":5,"External id":1}},
    {"ph":"X","cat":"gpu_memcpy","name":"m","pid":0,"tid":7,"ts":40,"dur":2,"args":{"correlation":5,"bytes":64,"memory bandwidth (GB/s)":N/A}},
    {"ph":"X","cat":"kernel","name":"alone","pid":0,"tid":7,"ts":50,"dur":2,"args":{"correlation":99}})json"));
  const SliceId launch = slice_named(trace, "cudaGraphLaunch");
  EXPECT_EQ(trace.launch_to_device().source(slice_named(trace, "k1")), launch);
  EXPECT_EQ(trace.launch_to_device().source(slice_named(trace, "m")), launch);
  EXPECT_FALSE(trace.launch_to_device().source(slice_named(trace, "alone")).valid());
  EXPECT_EQ(trace.operator_to_launch().source(launch), slice_named(trace, "op"));
  EXPECT_EQ(losses(trace, "device_work_without_launch"), 1u);
  EXPECT_EQ(trace.device_work().find(slice_named(trace, "m"))->bytes, 64);
}

TEST(KinetoImport, ExternalIdsThatAreCorrelationsGiveWayToEnclosure) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"X","cat":"cpu_op","name":"wrong","pid":1,"tid":1,"ts":100,"dur":20,"args":{"External id":5}},
    {"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":20,"args":{"External id":1}},
    {"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":2,"dur":10,"args":{"External id":2}},
    {"ph":"X","cat":"cuda_runtime","name":"launch5","pid":1,"tid":1,"ts":5,"dur":2,"args":{"correlation":5,"External id":5}},
    {"ph":"X","cat":"cuda_runtime","name":"launch6","pid":1,"tid":1,"ts":15,"dur":2,"args":{"correlation":6,"External id":6}})"));
  EXPECT_EQ(trace.operator_to_launch().source(slice_named(trace, "launch5")),
            slice_named(trace, "inner"));
  EXPECT_EQ(trace.operator_to_launch().source(slice_named(trace, "launch6")),
            slice_named(trace, "outer"));
}

TEST(KinetoImport, ALaunchWithoutExternalIdBelongsToTheOperatorAroundIt) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":0,"dur":20,"args":{"External id":1}},
    {"ph":"X","cat":"python_function","name":"py","pid":1,"tid":1,"ts":1,"dur":18},
    {"ph":"X","cat":"cuda_runtime","name":"in","pid":1,"tid":1,"ts":5,"dur":2,"args":{"correlation":5}},
    {"ph":"X","cat":"cuda_runtime","name":"out","pid":1,"tid":1,"ts":50,"dur":2,"args":{"correlation":6,"External id":0}})"));
  EXPECT_EQ(trace.operator_to_launch().source(slice_named(trace, "in")), slice_named(trace, "op"));
  EXPECT_FALSE(trace.operator_to_launch().source(slice_named(trace, "out")).valid());
}

TEST(KinetoImport, OfLaunchesWithOneCorrelationTheLastBeforeTheKernelCounts) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"X","cat":"cuda_runtime","name":"late","pid":1,"tid":1,"ts":100,"dur":2,"args":{"correlation":5}},
    {"ph":"X","cat":"cuda_runtime","name":"early","pid":1,"tid":1,"ts":10,"dur":2,"args":{"correlation":5}},
    {"ph":"X","cat":"kernel","name":"first","pid":0,"tid":7,"ts":20,"dur":2,"args":{"correlation":5}},
    {"ph":"X","cat":"kernel","name":"second","pid":0,"tid":7,"ts":120,"dur":2,"args":{"correlation":5}},
    {"ph":"X","cat":"kernel","name":"before all","pid":0,"tid":7,"ts":5,"dur":2,"args":{"correlation":5}})"));
  const Links& links = trace.launch_to_device();
  EXPECT_EQ(links.source(slice_named(trace, "first")), slice_named(trace, "early"));
  EXPECT_EQ(links.source(slice_named(trace, "second")), slice_named(trace, "late"));
  EXPECT_EQ(links.source(slice_named(trace, "before all")), slice_named(trace, "early"));
  EXPECT_EQ(losses(trace, "duplicate_correlation"), 1u);
}

std::string forward_and_backward(const std::string& flows) {
  return kineto_text(R"(
    {"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":20,"args":{"Sequence number":3,"Fwd thread id":0}},
    {"ph":"X","cat":"cpu_op","name":"fwd","pid":1,"tid":1,"ts":5,"dur":10,"args":{"Sequence number":3,"Fwd thread id":0}},
    {"ph":"X","cat":"cpu_op","name":"bwd","pid":1,"tid":2,"ts":100,"dur":10,"args":{"Sequence number":3,"Fwd thread id":1}},
    {"ph":"X","cat":"cpu_op","name":"bwd outer","pid":1,"tid":2,"ts":90,"dur":30,"args":{"Sequence number":3,"Fwd thread id":1}})" +
                     flows);
}

TEST(KinetoImport, ArrowsFromForwardToBackwardAreTaken) {
  for (const char* name : {"fwdbwd", "forward_backward"}) {
    const std::string category = name;
    const Trace trace = kineto(forward_and_backward(
        R"(, {"ph":"s","id":1,"pid":1,"tid":1,"ts":0,"cat":")" + category + R"(","name":"x"},
           {"ph":"f","id":1,"pid":1,"tid":2,"ts":90,"cat":")" +
        category + R"(","name":"x","bp":"e"},
           {"ph":"s","id":1,"pid":1,"tid":1,"ts":5,"cat":"ac2g","name":"ac2g"})"));
    EXPECT_EQ(trace.forward_to_backward().size(), 1u);
    EXPECT_EQ(trace.forward_to_backward().source(slice_named(trace, "bwd outer")),
              slice_named(trace, "outer"));
    EXPECT_EQ(trace.flows().size(), 0u);
  }
}

TEST(KinetoImport, WithoutArrowsTheSequenceNumberLinksForwardAndBackward) {
  const Trace trace = kineto(forward_and_backward(""));
  ASSERT_EQ(trace.forward_to_backward().size(), 1u) << "one arrow for each number";
  EXPECT_EQ(trace.forward_to_backward().source(slice_named(trace, "bwd")),
            slice_named(trace, "fwd"))
      << "the forward operator that starts last, the backward operator that ends first";
}

TEST(KinetoImport, TheBaseTimeCountsBeforeAndBehindTheEvents) {
  const std::string event =
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":123.456,"dur":1.001})";
  for (const std::string& text :
       {R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000007,"traceEvents":[)" + event +
            "]}",
        R"({"schemaVersion":1,"traceEvents":[)" + event +
            R"(],"displayTimeUnit":"ms","baseTimeNanoseconds":1700000000000000007})"}) {
    const Trace trace = kineto(text);
    EXPECT_TRUE(trace.meta().wall_clock);
    EXPECT_EQ(trace.meta().base_time, 1'700'000'000'000'000'007);
    EXPECT_EQ(trace.meta().origin, 123'456);
    EXPECT_EQ(trace.slices().duration(SliceId(std::uint32_t{0})), 1'001);
    EXPECT_EQ(trace.meta().version, "torch 2.4 or newer");
  }
}

TEST(KinetoImport, ABaseTimeThatNoClockShowsIsReported) {
  const Trace trace =
      kineto(R"({"schemaVersion":1,"baseTimeNanoseconds":9223372036854775807,"traceEvents":[]})");
  EXPECT_FALSE(trace.meta().wall_clock);
  EXPECT_EQ(losses(trace, "metadata_damaged"), 1u);
}

TEST(KinetoImport, WholeMicrosecondsSince1970AreWallClockTimes) {
  const Trace trace = kineto(kineto_text(
      R"({"ph":"X","cat":"Operator","name":"a","pid":1,"tid":1,"ts":1612345678901234,"dur":12})"));
  EXPECT_TRUE(trace.meta().wall_clock);
  EXPECT_EQ(trace.meta().base_time, 0);
  EXPECT_EQ(trace.meta().origin, 1'612'345'678'901'234'000);
  EXPECT_EQ(trace.span_end(), 12'000);
}

TEST(KinetoImport, TheAcceleratorFamilyIsRecognised) {
  const auto family = [](const std::string& category, const std::string& name) {
    return kineto(kineto_text(R"({"ph":"X","cat":")" + category + R"(","name":")" + name +
                              R"(","pid":0,"tid":7,"ts":1,"dur":1})"))
        .meta()
        .device_family;
  };
  EXPECT_EQ(family("cuda_runtime", "cudaLaunchKernel"), "CUDA");
  EXPECT_EQ(family("kernel", "gemm"), "CUDA");
  EXPECT_EQ(family("cuda_runtime", "hipLaunchKernel"), "ROCm");
  EXPECT_EQ(family("mtia_ccp_events", "k"), "MTIA");
  EXPECT_EQ(family("mtia_runtime", "r"), "MTIA");
  EXPECT_EQ(family("xpu_runtime", "r"), "XPU");
  EXPECT_EQ(family("cpu_op", "aten::add"), "");
}

TEST(KinetoImport, MemoryEventsAreAllocations) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"s":"t","args":{"Device Type":0,"Device Id":-1,"Bytes":128}},
    {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2,"s":"t",
     "args":{"Total Reserved":4096,"Total Allocated":512,"Bytes":-512,"Addr":140737488355328,"Device Id":1,"Device Type":1,"Ev Idx":9}},
    {"ph":"i","cat":"cpu_instant_event","name":"[OutOfMemory]","pid":1,"tid":1,"ts":3,"s":"t","args":{"Device Type":1,"Bytes":1}},
    {"ph":"i","name":"Record Window End","pid":"","tid":"","ts":4,"s":"g"})"));
  ASSERT_EQ(trace.allocations().size(), 3u);
  EXPECT_EQ(trace.allocations()[0].bytes, 128);
  EXPECT_EQ(trace.allocations()[0].device_type, 0);
  EXPECT_EQ(trace.allocations()[0].device, -1);
  EXPECT_EQ(trace.allocations()[1].bytes, -512);
  EXPECT_EQ(trace.allocations()[1].address, 140'737'488'355'328u);
  EXPECT_EQ(trace.allocations()[1].total_allocated, 512);
  EXPECT_EQ(trace.allocations()[1].total_reserved, 4'096);
  EXPECT_EQ(trace.allocations()[1].device, 1);
  EXPECT_TRUE(trace.allocations()[2].out_of_memory);
  ASSERT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(trace.markers()[0].scope, 'g');
}

TEST(KinetoImport, RankAndDevicesAreFoundBeforeAndBehindTheEvents) {
  const Trace trace = kineto(R"({"schemaVersion":1,
    "deviceProperties":[{"id":0,"name":"Tesla V100","totalGlobalMem":16945512448,"computeMajor":7,"computeMinor":0,"numSms":80,"warpSize":32}],
    "with_stack":1,"record_shapes":1,"traceEvents":[],"distributedInfo":{"backend":"nccl","rank":2,"world_size":4}})");
  EXPECT_EQ(trace.meta().rank, 2);
  EXPECT_EQ(trace.meta().world_size, 4);
  EXPECT_EQ(trace.meta().backend, "nccl");
  EXPECT_TRUE(trace.meta().with_stack);
  EXPECT_TRUE(trace.meta().record_shapes);
  EXPECT_FALSE(trace.meta().profile_memory);
  ASSERT_EQ(trace.meta().devices.size(), 1u);
  EXPECT_EQ(trace.meta().devices[0].name, "Tesla V100");
  EXPECT_EQ(trace.meta().devices[0].multiprocessors, 80);
}

TEST(KinetoImport, DamagedDevicePropertiesAreReported) {
  const Trace trace =
      kineto(R"({"schemaVersion":1,"deviceProperties":[{"id":N/A}],"traceEvents":[]})");
  EXPECT_TRUE(trace.meta().devices.empty());
  EXPECT_EQ(losses(trace, "metadata_damaged"), 1u);
}

TEST(KinetoImport, KernelArgumentsOfAllErasAreRead) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"External id":4,"queued":0,"device":0,"context":1,
     "stream":7,"correlation":9,"registers per thread":32,"shared memory":1024,"blocks per SM":inf,"warps per SM":1.5,
     "grid":[8,2,1],"block":[256,1,1],"est. achieved occupancy %":42,"occupancy":{"limitingFactors":"WARPS"}}})"));
  const DeviceRow* row = trace.device_work().find(SliceId(std::uint32_t{0}));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->registers, 32);
  EXPECT_EQ(row->shared_memory, 1024);
  EXPECT_EQ(row->grid, (std::array<std::int32_t, 3>{8, 2, 1}));
  EXPECT_EQ(row->block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(row->blocks_per_sm, -1) << "infinity is no number of blocks";
  EXPECT_FLOAT_EQ(row->warps_per_sm, 1.5f);
  EXPECT_FLOAT_EQ(row->occupancy, 42.0f);
  EXPECT_EQ(row->external_id, 4);
}

TEST(KinetoImport, OperatorArgumentsOfAllErasAreRead) {
  const Trace trace = kineto(kineto_text(R"(
    {"ph":"X","cat":"Operator","name":"old","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Input dims":[[2, 3]],"external id":4}},
    {"ph":"X","cat":"cpu_op","name":"new","pid":1,"tid":1,"ts":2,"dur":1,"args":{"External id":5,"Sequence number":6,"Fwd thread id":1,
     "Ev Idx":7,"Input Dims":[[2,3],[]],"Input type":["float","Scalar"],"Concrete Inputs":["","1"],"Call stack":"a.py(1): f;b.py(2): g",
     "Module Hierarchy":"top.conv"}})"));
  const OperatorRow* old_row = trace.operators().find(slice_named(trace, "old"));
  ASSERT_NE(old_row, nullptr);
  EXPECT_EQ(old_row->external_id, 4);
  EXPECT_EQ(trace.text(trace.inputs(old_row->inputs).shapes), "[[2, 3]]");
  const OperatorRow* row = trace.operators().find(slice_named(trace, "new"));
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->sequence, 6);
  EXPECT_EQ(row->order, 7);
  EXPECT_EQ(trace.text(trace.inputs(row->inputs).types), R"(["float","Scalar"])");
  EXPECT_EQ(trace.text(row->stack), "a.py(1): f;b.py(2): g");
  EXPECT_EQ(trace.text(row->module), "top.conv");
}

TEST(KinetoImport, UnknownCategoriesAreKeptUnderTheirName) {
  const Trace trace = kineto(
      kineto_text(R"({"ph":"X","cat":"quantum_op","name":"q","pid":1,"tid":1,"ts":1,"dur":1})"));
  EXPECT_EQ(kind_of(trace, "q"), SliceKind::Other);
  EXPECT_EQ(trace.text(*trace.categories().find(slice_named(trace, "q"))), "quantum_op");
  EXPECT_EQ(losses(trace, "unknown_category"), 1u);
}

struct OddTime {
  const char* what;
  const char* event;
  const char* loss;
  std::size_t slices;
};

class OddTimes : public testing::TestWithParam<OddTime> {};

TEST_P(OddTimes, AreMendedOrPassedOverAndAlwaysCounted) {
  const OddTime& odd = GetParam();
  const Trace trace = kineto(kineto_text(
      std::string(R"({"ph":"X","cat":"cpu_op","name":"odd","pid":1,"tid":1,)") + odd.event +
      R"(},{"ph":"X","cat":"cpu_op","name":"good","pid":1,"tid":1,"ts":5,"dur":2})"));
  EXPECT_EQ(trace.slice_count(), odd.slices);
  EXPECT_EQ(losses(trace, odd.loss), 1u);
  EXPECT_TRUE(slice_named(trace, "good").valid());
  for (const SliceId slice : all_slices(trace)) {
    EXPECT_GE(trace.slices().start(slice), 0);
    EXPECT_GE(trace.slices().duration(slice), 0);
    EXPECT_LE(trace.slices().end(slice), trace.span_end());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OddTimes,
    testing::Values(
        OddTime{"time_as_text", R"("ts":"7.5","dur":1)", "time_as_text", 2},
        OddTime{"duration_as_text", R"("ts":7,"dur":"1")", "time_as_text", 2},
        OddTime{"time_is_nan", R"("ts":NaN,"dur":1)", "time_unusable", 1},
        OddTime{"time_is_a_word", R"("ts":"soon","dur":1)", "time_unusable", 1},
        OddTime{"time_is_null", R"("ts":null,"dur":1)", "time_missing", 1},
        OddTime{"time_is_an_object", R"("ts":{"a":1},"dur":1)", "time_missing", 1},
        OddTime{"time_is_missing", R"("dur":1)", "time_missing", 1},
        OddTime{"time_beyond_all_clocks", R"("ts":99999999999999999999,"dur":1)", "time_unusable",
                1},
        OddTime{"time_below_all_clocks", R"("ts":-4611686018427387,"dur":1)", "time_unusable", 1},
        OddTime{"time_with_a_huge_exponent", R"("ts":1e400,"dur":1)", "time_unusable", 1},
        OddTime{"negative_duration", R"("ts":7,"dur":-5)", "duration_negative", 2},
        OddTime{"duration_is_nan", R"("ts":7,"dur":NaN)", "duration_unusable", 2},
        OddTime{"enormous_duration", R"("ts":7,"dur":1e15)", "duration_unusable", 2},
        OddTime{"absurd_duration", R"("ts":7,"dur":1e300)", "duration_unusable", 2},
        OddTime{"no_duration", R"("ts":7)", "duration_missing", 2}),
    [](const auto& test) { return test.param.what; });

TEST(KinetoImport, PidAndTidThatAreObjectsAreTakenForZeroAndCounted) {
  const Trace trace = kineto(kineto_text(
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":{"x":1},"tid":[2],"ts":1,"dur":1})"));
  ASSERT_EQ(trace.slice_count(), 1u);
  EXPECT_EQ(trace.tracks()[0].pid, 0);
  EXPECT_EQ(trace.tracks()[0].tid, 0);
  EXPECT_EQ(losses(trace, "id_unusable"), 1u);
}

TEST(KinetoImport, OfDuplicateKeysTheLastCounts) {
  const Trace trace = kineto(kineto_text(
      R"({"ph":"X","cat":"cpu_op","name":"a","name":"b","pid":1,"tid":1,"ts":1,"ts":2,"dur":1})"));
  EXPECT_EQ(names(trace), (std::vector<std::string>{"b"}));
  EXPECT_EQ(trace.meta().origin, 2'000);
}

TEST(KinetoImport, InvalidUtf8IsReplacedAndCountedOncePerText) {
  const std::string event =
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\xFFz\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":"
      "1}";
  for (const unsigned threads : {1u, 4u}) {
    const Trace trace =
        test::import_or_fail(kineto_text(event + "," + event), import_kineto, threads);
    EXPECT_EQ(names(trace), (std::vector<std::string>{"a\xEF\xBF\xBDz", "a\xEF\xBF\xBDz"}));
    EXPECT_EQ(losses(trace, "invalid_utf8"), 1u);
  }
}

TEST(KinetoImport, AMillionNestedCallsWithoutAnOperatorTakeNoQuadraticTime) {
  std::string events;
  constexpr int kCount = 200'000;
  for (int i = 0; i < kCount; ++i) {
    events +=
        R"({"ph":"X","cat":"cuda_runtime","name":"r","pid":1,"tid":1,"ts":)" + std::to_string(i) +
        R"(,"dur":)" + std::to_string(2 * (kCount - i)) + R"(,"args":{"correlation":7}},)" +
        R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":1,"args":{"correlation":7}},)" +
        R"({"ph":"M","name":"process_name","pid":)" + std::to_string(i) +
        R"(,"args":{"name":"p"}},)" +
        R"({"ph":"s","cat":"c","name":"f","id":1,"pid":1,"tid":1,"ts":)" +
        std::to_string(2 * kCount - i % 100) + "},";
  }
  events += R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":2,"ts":1,"dur":1})";
  const Trace trace = kineto(kineto_text(events));
  EXPECT_EQ(trace.slice_count(), 2u * kCount + 1);
  EXPECT_EQ(trace.operator_to_launch().size(), 0u);
  EXPECT_EQ(trace.launch_to_device().size(), static_cast<std::size_t>(kCount));
}

TEST(KinetoImport, JsonWithoutEventsIsNoTrace) {
  const Result<Trace> trace = test::try_import(R"({"schemaVersion":1,"other":[1]})");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::UnknownFormat);
  const Result<Trace> cut = test::try_import(R"({"schemaVersion":1,"traceEvents":)");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::BrokenInput);
}

}  // namespace
}  // namespace sonde
