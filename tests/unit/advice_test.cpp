#include "analysis/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/devices.hpp"
#include "analysis/hot_slices.hpp"
#include "analysis/memcpy.hpp"
#include "analysis/trace_facts.hpp"
#include "tests/support/small_trace.hpp"

namespace sonde {
namespace {

using testing::TraceWriter;

std::vector<Advice> advice_for(const Trace& trace) {
  const OpTree tree(trace);
  const StepBreakdown steps = break_down_steps(trace, tree);
  const std::vector<GpuUtilization> gpus = gpu_utilization(trace, steps.window());
  return give_advice({trace, tree, steps, gpus});
}

const Advice* find(const std::vector<Advice>& advice, const std::string& id) {
  const auto at =
      std::find_if(advice.begin(), advice.end(), [&](const Advice& a) { return a.id == id; });
  return at == advice.end() ? nullptr : &*at;
}

double measure(const Advice& advice, const std::string& name) {
  for (const auto& [key, value] : advice.measures) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no measure " << name;
  return 0;
}

TEST(Advice, SmallTraceHasAllItsTroublesWithTheirNumbers) {
  const Trace trace = testing::small_trace();
  const std::vector<Advice> advice = advice_for(trace);

  const Advice* loading = find(advice, "data_loader_bound");
  ASSERT_TRUE(loading);
  EXPECT_EQ(loading->weight, AdviceWeight::High);
  EXPECT_EQ(measure(*loading, "data_loader_ns"), 300'000);

  const Advice* idle = find(advice, "low_gpu_utilization");
  ASSERT_TRUE(idle);
  EXPECT_NEAR(measure(*idle, "utilization_percent"), 100 * 410.0 / 1990.0, 1e-9);

  const Advice* waits = find(advice, "host_waits_for_gpu");
  ASSERT_TRUE(waits);
  EXPECT_EQ(measure(*waits, "waits"), 2);
  EXPECT_EQ(measure(*waits, "wait_ns"), 360'000);
  EXPECT_EQ(measure(*waits, "item_waits"), 2);

  const Advice* copies = find(advice, "pageable_copies");
  ASSERT_TRUE(copies);
  EXPECT_EQ(measure(*copies, "copies"), 2);
  EXPECT_EQ(measure(*copies, "bytes"), 2 << 20);

  const Advice* cores = find(advice, "tensor_cores_unused");
  ASSERT_TRUE(cores);
  EXPECT_EQ(measure(*cores, "simt_kernel_ns"), 400'000);
  EXPECT_EQ(measure(*cores, "kernel_ns"), 410'000);

  // Four kernels are no crowd.
  EXPECT_FALSE(find(advice, "short_kernels"));
  EXPECT_FALSE(find(advice, "exposed_communication"));
  EXPECT_FALSE(find(advice, "low_occupancy"));
}

TEST(Advice, ComesHeaviestFirst) {
  const std::vector<Advice> advice = advice_for(testing::small_trace());
  ASSERT_GT(advice.size(), 1u);
  EXPECT_TRUE(std::is_sorted(advice.begin(), advice.end(),
                             [](const Advice& a, const Advice& b) { return a.weight > b.weight; }));
}

TEST(Advice, EverySentenceCarriesANumber) {
  for (const Advice& advice : advice_for(testing::small_trace())) {
    EXPECT_NE(advice.headline.find_first_of("0123456789"), std::string::npos) << advice.id;
    EXPECT_FALSE(advice.why.empty()) << advice.id;
    EXPECT_FALSE(advice.action.empty()) << advice.id;
    EXPECT_FALSE(advice.measures.empty()) << advice.id;
  }
}

TEST(Advice, ManyShortKernelsWithSlowLaunchesAreTold) {
  TraceWriter writer;
  writer.host("ProfilerStep#1", SliceKind::Step, 0, 20'000);
  for (int i = 0; i < 200; ++i) {
    // Each launch takes 12 us, each kernel 3.
    writer.launch("aten::add", "cudaLaunchKernel", "add", SliceKind::Kernel, 100.0 * i + 5,
                  100.0 * i + 30, 3);
  }
  const std::vector<Advice> advice = advice_for(writer.finish());
  const Advice* launches = find(advice, "short_kernels");
  ASSERT_TRUE(launches);
  EXPECT_EQ(measure(*launches, "short_kernels"), 200);
  EXPECT_EQ(measure(*launches, "launch_time_ns"), 200 * 12'000);
}

TEST(Advice, LowOccupancyIsTold) {
  TraceWriter writer;
  writer.host("ProfilerStep#1", SliceKind::Step, 0, 1000);
  writer.host("aten::mm", SliceKind::Operator, 10, 50);
  writer.call("cudaLaunchKernel", 20, 10);
  writer.device("mm", SliceKind::Kernel, 40, 900, kNoNumber, 12);
  const std::vector<Advice> advice = advice_for(writer.finish());
  const Advice* occupancy = find(advice, "low_occupancy");
  ASSERT_TRUE(occupancy);
  EXPECT_NEAR(measure(*occupancy, "occupancy_percent"), 12, 1e-6);
}

// A trace with all troubles that have words of their own for each framework.
Trace troubled(const std::string& format, const std::string& family) {
  TraceWriter writer;
  writer.host("step#1", SliceKind::Step, 0, 25'000);
  writer.host("DataLoader", SliceKind::DataLoader, 20'100, 4'000);
  writer.host("all_reduce", SliceKind::Communication, 24'100, 800);
  for (int i = 0; i < 200; ++i) {
    writer.launch("add", "cudaLaunchKernel", "volta_sgemm_128x64_nn", SliceKind::Kernel,
                  100.0 * i + 5, 100.0 * i + 30, 3);
  }
  writer.host("wait", SliceKind::Operator, 20'000, 100);
  writer.call("cudaStreamSynchronize", 20'000, 100);
  TraceMeta& meta = writer.builder().meta();
  meta.format = format;
  meta.device_family = family;
  Device device;
  device.name = "some GPU";
  device.compute_major = 8;
  meta.devices.push_back(device);
  return writer.finish();
}

TEST(Advice, SpeaksOfTorchInTracesOfTorchOnly) {
  for (const std::string format : {"xplane", "tensorflow-json", "paddle", "mxnet", "onnxruntime",
                                   "rocprof", "nsys", "chrome", "sonde", "perfetto"}) {
    const std::vector<Advice> advice = advice_for(troubled(format, "CUDA"));
    EXPECT_GE(advice.size(), 4u) << format;
    for (const Advice& one : advice) {
      for (const char* const word : {"torch", "DDP", "non_blocking", "with_stack"}) {
        EXPECT_EQ(one.action.find(word), std::string::npos) << format << ": " << one.action;
      }
      EXPECT_FALSE(one.action.empty()) << format << ": " << one.id;
    }
  }
  const std::vector<Advice> torch = advice_for(troubled("kineto", "CUDA"));
  ASSERT_TRUE(find(torch, "short_kernels"));
  EXPECT_NE(find(torch, "short_kernels")->action.find("torch.compile"), std::string::npos);
  ASSERT_TRUE(find(torch, "data_loader_bound"));
  EXPECT_NE(find(torch, "data_loader_bound")->action.find("num_workers"), std::string::npos);
}

TEST(Advice, CallsTheDeviceByItsName) {
  const std::vector<Advice> tpu = advice_for(troubled("xplane", "TPU"));
  ASSERT_TRUE(find(tpu, "low_gpu_utilization"));
  EXPECT_TRUE(find(tpu, "low_gpu_utilization")->headline.starts_with("TPU 0 is idle"));
  EXPECT_NE(find(tpu, "data_loader_bound")->why.find("no runtime call"), std::string::npos);
  const std::vector<Advice> hip = advice_for(troubled("rocprof", "ROCm"));
  EXPECT_NE(find(hip, "data_loader_bound")->why.find("no HIP call"), std::string::npos);
}

TEST(TraceFacts, OrdersAreNoTimes) {
  EXPECT_TRUE(has_times(testing::small_trace()));
  EXPECT_TRUE(has_times(TraceBuilder().finish()));
  TraceWriter lengths_of_zero;
  lengths_of_zero.device("kernel", SliceKind::Kernel, 1, 0);
  EXPECT_FALSE(has_times(lengths_of_zero.finish()));
  TraceWriter short_calls;
  short_calls.host("aten::mm", SliceKind::Operator, 1, 0);
  EXPECT_TRUE(has_times(short_calls.finish()));
  TraceWriter order;
  order.host("aten::mm", SliceKind::Operator, 1, 2);
  order.builder().losses().add("no_times", Severity::Info, "An order only.");
  EXPECT_FALSE(has_times(order.finish()));
}

TEST(Advice, AQuietTraceGetsNone) {
  TraceWriter writer;
  writer.host("ProfilerStep#1", SliceKind::Step, 0, 1000);
  writer.host("aten::mm", SliceKind::Operator, 10, 900);
  EXPECT_TRUE(advice_for(writer.finish()).empty());
  EXPECT_TRUE(advice_for(TraceWriter().finish()).empty());
}

TEST(MergeAdvice, KeepsTheWorstRankAndNamesAll) {
  Advice light;
  light.id = "x";
  light.share = 0.1;
  Advice heavy = light;
  heavy.share = 0.3;
  heavy.headline = "heavy";
  const std::vector<Advice> merged =
      merge_advice({{light}, {heavy}, {}, {light}}, {"rank 0", "rank 1", "rank 2", "rank 3"});
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].headline, "heavy");
  EXPECT_EQ(merged[0].subjects, (std::vector<std::string>{"rank 1", "rank 0", "rank 3"}));
}

TEST(CopyStats, SumsByNameAndReadsIt) {
  const std::vector<CopyStats> stats = copy_stats(testing::small_trace());
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].name, "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(stats[0].direction, "HtoD");
  EXPECT_EQ(stats[0].source, "Pageable");
  EXPECT_EQ(stats[0].target, "Device");
  EXPECT_EQ(stats[0].count, 2u);
  EXPECT_EQ(stats[0].bytes, 2 << 20);
  EXPECT_EQ(stats[0].time, 120'000);
  EXPECT_NEAR(*stats[0].mean_bandwidth(), (1 << 20) / 60'000.0, 1e-12);
  EXPECT_EQ(stats[1].kind, SliceKind::Memset);
}

TEST(CopyStats, MergesInAnyOrder) {
  const std::vector<CopyStats> a = copy_stats(testing::small_trace());
  std::vector<CopyStats> b = a;
  b[0].name = "Memcpy DtoH (Device -> Pinned)";
  b[1].min_bandwidth = 1e-3;
  std::vector<CopyStats> ab = a;
  merge_copy_stats(ab, b);
  std::vector<CopyStats> ba = b;
  merge_copy_stats(ba, a);
  ASSERT_EQ(ab.size(), 3u);
  ASSERT_EQ(ba.size(), 3u);
  for (std::size_t i = 0; i < ab.size(); ++i) {
    EXPECT_EQ(ab[i].name, ba[i].name);
    EXPECT_EQ(ab[i].count, ba[i].count);
    EXPECT_EQ(ab[i].bytes, ba[i].bytes);
    EXPECT_EQ(ab[i].min_bandwidth, ba[i].min_bandwidth);
  }
  EXPECT_EQ(ab[2].min_bandwidth, 1e-3);
}

TEST(CopyStats, ToleratesOddNames) {
  TraceWriter writer;
  for (const char* name :
       {"Memcpy", "Memcpy ", "Memcpy HtoD", "Memcpy (", "Memcpy -> )(", "CopyHostToDevice"}) {
    writer.device(name, SliceKind::Memcpy, 1, 1);
  }
  EXPECT_EQ(copy_stats(writer.finish()).size(), 6u);
}

TEST(DeviceUse, TakesUnionsForBusyTimes) {
  TraceWriter writer;
  writer.device("a", SliceKind::Kernel, 0, 100);
  writer.device("b", SliceKind::Kernel, 50, 100);
  writer.device("Memcpy HtoD", SliceKind::Memcpy, 140, 60);
  const DeviceUse use = device_use(writer.finish(), {0, 120'000});
  ASSERT_EQ(use.devices.size(), 1u);
  EXPECT_EQ(use.devices[0].kernel_time, 200'000);
  EXPECT_EQ(use.devices[0].kernel_busy, 150'000);
  EXPECT_EQ(use.devices[0].step_kernel_busy, 120'000);
  EXPECT_EQ(use.devices[0].busy, 200'000);
  EXPECT_FALSE(use.devices[0].properties);
  ASSERT_EQ(use.devices[0].streams.size(), 1u);
  EXPECT_EQ(use.devices[0].streams[0].stream, 7);
}

TEST(DeviceUse, CountsNestedOperatorsOnce) {
  TraceWriter writer;
  writer.host("outer", SliceKind::Operator, 0, 100);
  writer.host("inner", SliceKind::Operator, 10, 20);
  writer.call("cudaLaunchKernel", 15, 5);
  const DeviceUse use = device_use(writer.finish(), {});
  ASSERT_EQ(use.threads.size(), 1u);
  EXPECT_EQ(use.threads[0].operators, 2u);
  EXPECT_EQ(use.threads[0].operator_time, 100'000);
  EXPECT_EQ(use.threads[0].runtime_time, 5'000);
}

TEST(TraceFacts, CountsByKind) {
  const TraceFacts facts = trace_facts(testing::small_trace());
  EXPECT_EQ(facts.steps, 2u);
  EXPECT_EQ(facts.threads, 1u);
  EXPECT_EQ(facts.streams, 1u);
  std::uint64_t kernels = 0;
  for (const KindCount& kind : facts.kinds) {
    if (kind.kind == SliceKind::Kernel) kernels = kind.slices;
  }
  EXPECT_EQ(kernels, 4u);
}

TEST(HotSlices, TakesChildrenOffTheirParents) {
  TraceWriter writer;
  writer.host("outer", SliceKind::Operator, 0, 100);
  writer.host("inner", SliceKind::Operator, 10, 70);
  const Trace trace = writer.finish();
  const std::vector<NameStats> stats = hot_slices(trace);
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(trace.text(stats[0].name), "inner");
  EXPECT_EQ(stats[0].self, 70'000);
  EXPECT_EQ(stats[1].self, 30'000);
  EXPECT_EQ(stats[1].total, 100'000);
}

}  // namespace
}  // namespace sonde
