#include <gtest/gtest.h>

#include <filesystem>

#include "import/loader.hpp"
#include "import/xplane/xplane.hpp"
#include "tests/support/files.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/xplane_file.hpp"

namespace sonde {
namespace {

using test::losses;
using test::slice_named;
using test::XPlane;

constexpr std::int64_t kMicro = 1'000'000;  // picoseconds

Trace import(const std::string& bytes) { return test::import_or_fail(bytes, import_xplane); }

std::string data(const std::string& name) {
  return std::string(SONDE_TEST_DATA) + "/tensorflow/" + name;
}

Trace load(const std::string& path) {
  Result<Trace> trace = load_trace(path);
  EXPECT_TRUE(trace.ok()) << (trace ? "" : trace.error().text());
  return trace ? std::move(*trace) : TraceBuilder().finish();
}

std::string argument(const Trace& trace, SliceId slice, std::string_view key) {
  const ArgumentValue value = find_argument(trace, slice, trace.strings().find(key));
  if (!value) return "(none)";
  if (value.text().valid()) return std::string(trace.text(value.text()));
  return std::to_string(value.integer(trace, -1));
}

TEST(XPlaneImport, IsKnownByItsFirstPlane) {
  EXPECT_TRUE(looks_like_xplane(XPlane("/host:CPU").line(1, "t").field()));
  EXPECT_TRUE(looks_like_xplane(XPlane("Task Environment").field()));
  EXPECT_FALSE(looks_like_xplane(XPlane("something else").field()));
  EXPECT_FALSE(looks_like_xplane(""));
  EXPECT_FALSE(looks_like_xplane("\x0A"));
  EXPECT_FALSE(looks_like_xplane("\x0A\x04\x08\x01\x10\x02"));  // a pprof profile
  EXPECT_FALSE(looks_like_xplane("{\"traceEvents\": []}"));
}

TEST(XPlaneImport, KernelsHaveTheirDetailsAndTheirLaunch) {
  const std::string host =
      XPlane("/host:CPU")
          .line(7, "main/7", 1000)
          .event("dense/MatMul:MatMul", 0, 90 * kMicro)
          .event("cuLaunchKernel", 10 * kMicro, 5 * kMicro,
                 {XPlane::big("correlation_id", 42), XPlane::integer("device_id", 0)})
          .field();
  const std::string gpu =
      XPlane("/device:GPU:1")
          .plane_stat(XPlane::text("gpu_device_name", "Some GPU"))
          .plane_stat(XPlane::text("device_vendor", "Nvidia"))
          .plane_stat(XPlane::big("core_count", 132))
          .line(14, "Stream #14(Compute,MemcpyH2D)", 1000)
          .event("gemm", 20 * kMicro, 30 * kMicro,
                 {XPlane::big("correlation_id", 42), XPlane::text("context_id", "$$3"),
                  XPlane::reference("kernel_details",
                                    "regs:80 static_shared:16 dynamic_shared:1024 grid:5,6,7 "
                                    "block:128,2,1 occ_pct:37.5"),
                  XPlane::reference("tf_op", "dense/MatMul:MatMul")})
          .event("MemcpyH2D", 60 * kMicro, 2 * kMicro,
                 {XPlane::text("memcpy_details",
                               "kind_src:pinned kind_dst:device size:4000 dest:0 async:1")})
          .event("Memset device", 70 * kMicro, 1 * kMicro,
                 {XPlane::text("Memset_details", "kind:device num_bytes:64 async:1")})
          .field();
  const Trace trace = import(gpu + host);
  const SliceId kernel = slice_named(trace, "gemm");
  const SliceId launch = slice_named(trace, "cuLaunchKernel");
  ASSERT_TRUE(kernel.valid() && launch.valid());
  EXPECT_EQ(trace.slices().kind(kernel), SliceKind::Kernel);
  EXPECT_EQ(trace.slices().kind(launch), SliceKind::Driver);
  EXPECT_EQ(trace.launch_to_device().source(kernel), launch);
  EXPECT_EQ(trace.name(trace.operator_to_launch().source(launch)), "dense/MatMul:MatMul");
  const DeviceRow* row = trace.device_work().find(kernel);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->correlation, 42);
  EXPECT_EQ(row->context, 3);
  EXPECT_EQ(row->device, 1);
  EXPECT_EQ(row->stream, 14);
  EXPECT_EQ(row->registers, 80);
  EXPECT_EQ(row->shared_memory, 1040);
  EXPECT_EQ(row->grid, (std::array<std::int32_t, 3>{5, 6, 7}));
  EXPECT_EQ(row->block, (std::array<std::int32_t, 3>{128, 2, 1}));
  EXPECT_FLOAT_EQ(row->occupancy, 37.5f);
  EXPECT_EQ(argument(trace, kernel, "tf_op"), "dense/MatMul:MatMul");
  const DeviceRow* copy = trace.device_work().find(slice_named(trace, "MemcpyH2D"));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->bytes, 4000);
  EXPECT_FLOAT_EQ(copy->bandwidth, 2.0f);
  EXPECT_EQ(trace.device_work().find(slice_named(trace, "Memset device"))->bytes, 64);
  ASSERT_EQ(trace.meta().devices.size(), 1u);
  EXPECT_EQ(trace.meta().devices[0].name, "Some GPU");
  EXPECT_EQ(trace.meta().devices[0].multiprocessors, 132);
  EXPECT_EQ(trace.meta().device_family, "CUDA");
  EXPECT_EQ(trace.meta().file_events, 5u);
}

TEST(XPlaneImport, PlanesOfOneNameAndLinesOfOneIdAreOne) {
  const std::string first = XPlane("/host:CPU").line(1, "a").event("x", 0, kMicro).field();
  const std::string second = XPlane("/host:CPU")
                                 .line(1, "a")
                                 .event("y", 2 * kMicro, kMicro)
                                 .line(2, "b")
                                 .event("z", 0, kMicro)
                                 .field();
  const Trace trace = import(first + second);
  EXPECT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.slices().track(slice_named(trace, "x")),
            trace.slices().track(slice_named(trace, "y")));
}

TEST(XPlaneImport, PicosecondsKeepTheirNestingAndTheirLength) {
  const Trace trace = import(
      XPlane("/device:TPU:0")
          .describe("%while", "while", {XPlane::text("hlo_category", "while")})
          .describe("%add", "add",
                    {XPlane::text("hlo_category", "loop fusion"), XPlane::integer("flops", 10)})
          .line(3, "XLA Ops")
          .event("%while", 1499, 3000)
          .event("%add", 1501, 2998)
          .field());
  const SliceId outer = slice_named(trace, "while");
  const SliceId inner = slice_named(trace, "add");
  EXPECT_EQ(trace.slices().parent(inner), outer);
  EXPECT_EQ(trace.slices().kind(outer), SliceKind::DeviceRange);
  EXPECT_EQ(trace.slices().kind(inner), SliceKind::Kernel);
  EXPECT_EQ(argument(trace, inner, "duration_ps"), "2998");
  EXPECT_EQ(argument(trace, outer, "duration_ps"), "(none)");
  EXPECT_EQ(argument(trace, inner, "flops"), "10");
  EXPECT_EQ(argument(trace, inner, "long_name"), "%add");
  EXPECT_EQ(trace.meta().device_family, "TPU");
}

TEST(XPlaneImport, SharedStatisticsAreKeptOnce) {
  XPlane plane("/device:TPU:0");
  plane.describe("%add", "add", {XPlane::text("hlo_category", "loop fusion")}).line(3, "XLA Ops");
  for (int i = 0; i < 100; ++i)
    plane.event("%add", i * kMicro, kMicro, {XPlane::integer("run_id", i)});
  const Trace trace = import(plane.field());
  EXPECT_EQ(trace.shared_arguments().size(), 1u);
  EXPECT_EQ(trace.shared_arguments().slices(), 100u);
  EXPECT_EQ(trace.arguments().size(), 100u);  // run_id
}

TEST(XPlaneImport, StepsAreNumberedAndNotNested) {
  const Trace trace =
      import(XPlane("/host:CPU")
                 .line(1, "main")
                 .event("train", 0, 50 * kMicro, {XPlane::integer("step_num", 7)})
                 .event("TraceContext", kMicro, 40 * kMicro, {XPlane::integer("step_num", 7)})
                 .event("train", 60 * kMicro, 50 * kMicro, {XPlane::integer("step_num", 8)})
                 .line(2, "other")
                 .event("train", 0, 50 * kMicro, {XPlane::integer("step_num", 7)})
                 .field());
  std::vector<std::string> steps;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) == SliceKind::Step) steps.emplace_back(trace.name(slice));
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"train#7", "train#8"}));
}

TEST(XPlaneImport, RunsAreStepsWhereNoStepHasANumber) {
  const Trace trace = import(XPlane("/host:CPU")
                                 .line(1, "main")
                                 .event("FunctionRun", 0, 50 * kMicro)
                                 .event("FunctionRun", 60 * kMicro, 50 * kMicro)
                                 .field());
  EXPECT_EQ(trace.slices().kind(SliceId(std::size_t{0})), SliceKind::Step);
  EXPECT_EQ(trace.slices().kind(SliceId(std::size_t{1})), SliceKind::Step);
}

TEST(XPlaneImport, KindsOfHostEvents) {
  const Trace trace =
      import(XPlane("/host:CPU")
                 .line(1, "main")
                 .event("$train.py:12 step", 0, kMicro)
                 .event("Iterator::Root", 2 * kMicro, kMicro)
                 .event("IteratorGetNext:IteratorGetNext", 4 * kMicro, kMicro)
                 .event("NVTX:domain:text", 6 * kMicro, kMicro)
                 .event("dot.1", 8 * kMicro, kMicro, {XPlane::reference("hlo_op", "dot.1")})
                 .event("SomeInternals::Run", 10 * kMicro, kMicro)
                 .event("instant", 12 * kMicro, 0, {XPlane::text("why", "because")})
                 .event("named#size=4,shape=[2]#", 14 * kMicro, kMicro)
                 .field());
  const auto kind = [&](std::string_view name) {
    return trace.slices().kind(slice_named(trace, name));
  };
  EXPECT_EQ(kind("$train.py:12 step"), SliceKind::PythonFunction);
  EXPECT_EQ(kind("Iterator::Root"), SliceKind::DataLoader);
  EXPECT_EQ(kind("IteratorGetNext:IteratorGetNext"), SliceKind::DataLoader);
  EXPECT_EQ(kind("NVTX:domain:text"), SliceKind::UserRange);
  EXPECT_EQ(kind("dot.1"), SliceKind::Operator);
  EXPECT_EQ(kind("SomeInternals::Run"), SliceKind::Api);
  EXPECT_EQ(argument(trace, slice_named(trace, "named"), "size"), "4");
  ASSERT_EQ(trace.markers().size(), 1u);
  EXPECT_EQ(trace.text(trace.markers()[0].name), "instant");
  ASSERT_EQ(trace.marker_arguments().size(), 1u);
  EXPECT_EQ(trace.text(trace.marker_arguments()[0].text()), "because");
}

TEST(XPlaneImport, AllocationsFreeWhatTheyTook) {
  const Trace trace = import(
      XPlane("/host:CPU")
          .line(1, "main")
          .event("MemoryAllocation", 0, 0,
                 {XPlane::text("allocator_name", "GPU_0_bfc"), XPlane::integer("addr", 100),
                  XPlane::integer("allocation_bytes", 512), XPlane::integer("bytes_allocated", 512),
                  XPlane::integer("bytes_available", 1000)})
          .event("MemoryDeallocation", kMicro, 0,
                 {XPlane::text("allocator_name", "GPU_0_bfc"), XPlane::integer("addr", 100),
                  XPlane::integer("bytes_allocated", 0)})
          .field());
  ASSERT_EQ(trace.allocations().size(), 2u);
  EXPECT_EQ(trace.allocations()[0].bytes, 512);
  EXPECT_EQ(trace.allocations()[1].bytes, -512);
  EXPECT_EQ(trace.text(trace.allocations()[0].pool), "GPU_0_bfc");
}

TEST(XPlaneImport, ArrowsFromProducerToConsumer) {
  const Trace trace = import(
      XPlane("/host:CPU")
          .line(1, "main")
          .event("launch", 0, 10 * kMicro)
          .event("Record", kMicro, 0, {XPlane::integer("_pt", 15), XPlane::integer("_p", 3)})
          .event("hand", 20 * kMicro, kMicro, {XPlane::integer("_pt", 2), XPlane::integer("_p", 3)})
          .line(2, "pool")
          .event("ThreadpoolListener::StartRegion", 30 * kMicro, 0,
                 {XPlane::integer("_ct", 15), XPlane::integer("_c", 3)})
          .event("work", 31 * kMicro, kMicro)
          .event("ThreadpoolListener::StopRegion", 40 * kMicro, 0)
          .event("take", 50 * kMicro, kMicro, {XPlane::integer("_ct", 2), XPlane::integer("_c", 3)})
          .field());
  EXPECT_EQ(trace.name(trace.flows().source(slice_named(trace, "take"))), "hand");
  const SliceId region = slice_named(trace, "ThreadpoolListener::Region");
  ASSERT_TRUE(region.valid());
  EXPECT_EQ(trace.name(trace.flows().source(region)), "launch");
  EXPECT_EQ(trace.slices().parent(slice_named(trace, "work")), region);
}

TEST(XPlaneImport, CountersAndLargeNumbers) {
  const Trace trace =
      import(XPlane("/device:GPU:0")
                 .line(9, "_counters_")
                 .event("power", kMicro, 0, {XPlane::real("watts", 321.5)})
                 .line(1, "Stream #1(Compute)")
                 .event("k", 0, kMicro, {XPlane::big("program_id", 12190760917235803885ull)})
                 .field());
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_DOUBLE_EQ(trace.counters()[0].value, 321.5);
  EXPECT_EQ(argument(trace, slice_named(trace, "k"), "program_id"), "12190760917235803885");
}

TEST(XPlaneImport, TimesOfTheWallClock) {
  const std::string environment =
      XPlane("Task Environment")
          .plane_stat(XPlane::big("profile_start_time", 1'700'000'000'000'000'000))
          .field();
  const Trace relative =
      import(environment + XPlane("/host:CPU").line(1, "t", 500).event("e", 0, kMicro).field());
  EXPECT_TRUE(relative.meta().wall_clock);
  EXPECT_EQ(relative.meta().base_time + relative.meta().origin, 1'700'000'000'000'000'500);
  const Trace absolute = import(
      XPlane("/host:CPU").line(1, "t", 1'700'000'000'000'000'500).event("e", 0, kMicro).field());
  EXPECT_TRUE(absolute.meta().wall_clock);
  EXPECT_EQ(absolute.meta().base_time + absolute.meta().origin, 1'700'000'000'000'000'500);
}

TEST(XPlaneImport, WhatTheProfilerSaysIsPassedOn) {
  std::string space = XPlane("/host:CPU").line(1, "t").event("e", 0, kMicro).field();
  protozero::pbf_writer writer(space);
  writer.add_string(2, "CUPTI failed");
  writer.add_string(3, "too many events");
  writer.add_string(4, "host-1");
  const Trace trace = import(space);
  const LossLedger::Entry* error = trace.losses().find("profiler_error");
  ASSERT_NE(error, nullptr);
  EXPECT_NE(error->sentence.find("CUPTI failed"), std::string::npos);
  EXPECT_EQ(losses(trace, "profiler_warning"), 1u);
  EXPECT_EQ(trace.meta().properties.back(),
            (std::pair<std::string, std::string>("hosts", "[\"host-1\"]")));
}

TEST(XPlaneImport, BadEventsAreCounted) {
  const Trace trace = import(XPlane("/host:CPU")
                                 .line(1, "t")
                                 .event("good", 0, kMicro)
                                 .event("negative", 2 * kMicro, -5)
                                 .event("far", INT64_MAX - 5, 100)
                                 .event("bad \xFF text", 3 * kMicro, kMicro)
                                 .field());
  EXPECT_EQ(losses(trace, "negative_duration"), 1u);
  EXPECT_EQ(losses(trace, "bad_time"), 1u);
  EXPECT_EQ(losses(trace, "invalid_utf8"), 1u);
  EXPECT_TRUE(slice_named(trace, "bad \xEF\xBF\xBD text").valid());
}

TEST(XPlaneImport, EveryCutGivesATraceOrAnError) {
  const std::string whole = XPlane("/host:CPU")
                                .line(1, "t")
                                .event("first", 0, kMicro, {XPlane::text("key", "value")})
                                .event("second", 2 * kMicro, kMicro)
                                .field();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Result<Trace> trace = test::try_import(whole.substr(0, size), import_xplane);
    if (!trace) {
      EXPECT_FALSE(trace.error().text().empty());
      continue;
    }
    EXPECT_EQ(losses(*trace, "cut"), 1u) << size;
  }
}

TEST(XPlaneImport, LengthsBeyondTheirMessageAreDamage) {
  // A line that says that it is longer than its plane.
  const std::string plane = std::string("\x12\x09/host:CPU", 11) + "\x1A\xFF\x7F";
  const std::string space = std::string("\x0A") + static_cast<char>(plane.size()) + plane;
  const Result<Trace> trace = test::try_import(space, import_xplane);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(losses(*trace, "broken"), 1u);
}

TEST(XPlaneImport, EveryEventOfTheRealProfilesIsThere) {
  for (const std::string name : {"jax_gpu", "jax_cpu", "tf_cpu"}) {
    const Trace trace = load(data(name + ".xplane.pb"));
    std::size_t regions = 0;
    for (const SliceId slice : all_slices(trace))
      regions += trace.name(slice) == "ThreadpoolListener::Region";
    EXPECT_EQ(trace.slice_count() - regions + trace.markers().size(), trace.meta().file_events)
        << name;
    for (const LossLedger::Entry& entry : trace.losses().entries())
      EXPECT_EQ(entry.severity, Severity::Info) << name << " " << entry.name;
  }
}

TEST(XPlaneImport, AGpuProfileOfJax) {
  const Trace trace = load(data("jax_gpu.xplane.pb"));
  EXPECT_EQ(trace.meta().file_events, 238u);
  EXPECT_EQ(trace.meta().version, "0.11.2");
  EXPECT_EQ(trace.launch_to_device().size(), 45u);
  ASSERT_EQ(trace.meta().devices.size(), 1u);
  EXPECT_EQ(trace.meta().devices[0].name, "NVIDIA H200");
  EXPECT_EQ(trace.allocations().size(), 20u);
}

TEST(XPlaneImport, ATpuProfileOfFourCores) {
  const std::string path = std::string(SONDE_SHARED_DATA) + "/xplane/tpu_inference_2.xplane.pb";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the shared data";
  const Trace trace = load(path);
  EXPECT_EQ(trace.meta().file_events, 26723u);
  EXPECT_EQ(trace.slice_count() + trace.markers().size(), 26723u);
  EXPECT_EQ(trace.meta().devices.size(), 4u);
  for (const LossLedger::Entry& entry : trace.losses().entries())
    EXPECT_EQ(entry.severity, Severity::Info) << entry.name;
}

TEST(XPlaneImport, AProfileFolderHasEachHostOnce) {
  const test::ScratchFolder folder;
  const std::string run = "plugins/profile/2026_01_02_03_04_05/";
  const std::string profile = test::read_bytes(data("jax_gpu.xplane.pb"));
  const std::string json = test::read_bytes(data("jax_gpu.trace.json.gz"));
  folder.write(run + "host-a.xplane.pb", profile);
  folder.write(run + "host-a.trace.json.gz", json);
  folder.write(run + "host-b.xplane.pb", profile);
  folder.write(run + "perfetto_trace.json.gz", json);
  folder.write(run + "host-a.input_pipeline.json",
               "[{\"cols\":[{\"id\":\"x\",\"label\":\"x\",\"type\":\"string\"}]}]");
  folder.write("plugins/profile/older/host-c.trace.json.gz", json);
  const Result<std::vector<TraceFile>> files = find_trace_files(folder.path().string());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].worker, "host-a");
  EXPECT_EQ((*files)[1].worker, "host-b");
  EXPECT_EQ((*files)[0].run, "plugins/profile/2026_01_02_03_04_05");
  EXPECT_EQ((*files)[2].run, "plugins/profile/older");
}

}  // namespace
}  // namespace sonde
