#include "analysis/modules.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "trace/builder.hpp"

namespace sonde {
namespace {

// A network with one layer, forward on one thread and backward on another.
//   net 0–100 [ layer 10–60 [ addmm 20–50 [ launch 30–32 ] ] launch 70–72 ]     backward 200–240 [
//   launch 210–212 ]
Trace example() {
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  const TrackId engine = builder.add_track({});
  const TrackId stream = builder.add_track({});
  const auto add = [&](TrackId track, const char* name, SliceKind kind, Nanos start, Nanos end) {
    return builder.add_slice(start, end - start, track, builder.intern(name), kind);
  };
  add(main, "net", SliceKind::Module, 0, 100);
  add(main, "layer", SliceKind::Module, 10, 60);
  const SliceId forward = add(main, "addmm", SliceKind::Operator, 20, 50);
  const SliceId first = add(main, "launch", SliceKind::Runtime, 30, 32);
  const SliceId second = add(main, "launch", SliceKind::Runtime, 70, 72);
  const SliceId backward = add(engine, "AddmmBackward0", SliceKind::Operator, 200, 240);
  const SliceId third = add(engine, "launch", SliceKind::Runtime, 210, 212);
  const SliceId alone = add(engine, "launch", SliceKind::Runtime, 300, 302);
  const SliceId kernels[] = {
      add(stream, "k", SliceKind::Kernel, 40, 47), add(stream, "k", SliceKind::Kernel, 80, 85),
      add(stream, "k", SliceKind::Kernel, 220, 231), add(stream, "k", SliceKind::Kernel, 310, 400)};
  builder.nest(1);
  const SliceId launches[] = {first, second, third, alone};
  for (int i = 0; i < 4; ++i) builder.add_launch_link(launches[i], kernels[i]);
  builder.add_backward_link(forward, backward);
  return builder.finish();
}

TEST(Modules, DeviceWorkBelongsToTheModuleOfItsLaunchAndOfItsForwardOperator) {
  const Trace trace = example();
  std::map<std::string, ModuleStats> by_name;
  for (const ModuleStats& stats : module_stats(trace)) {
    by_name[std::string(trace.text(stats.name))] = stats;
  }
  ASSERT_EQ(by_name.size(), 2u);
  EXPECT_EQ(by_name["layer"].device_self, 7 + 11);
  EXPECT_EQ(by_name["layer"].device_total, 7 + 11);
  EXPECT_EQ(by_name["layer"].device_backward, 11);
  EXPECT_EQ(by_name["net"].device_self, 5);
  EXPECT_EQ(by_name["net"].device_total, 7 + 5 + 11);
  EXPECT_EQ(by_name["net"].device_backward, 11);
}

TEST(Modules, HostTimeIsWithAndWithoutModulesInside) {
  const Trace trace = example();
  const std::vector<ModuleStats> stats = module_stats(trace);
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(trace.text(stats[0].name), "net");
  EXPECT_EQ(stats[0].calls, 1);
  EXPECT_EQ(stats[0].host_total, 100);
  EXPECT_EQ(stats[0].host_self, 50);
  EXPECT_EQ(stats[1].host_total, 50);
  EXPECT_EQ(stats[1].host_self, 50);
}

// Gradients are added up behind the backward operator, in the engine's slice around both.
TEST(Modules, WhatTheEngineAddsUpBelongsToTheSameModule) {
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  const TrackId engine = builder.add_track({});
  const TrackId stream = builder.add_track({});
  const auto add = [&](TrackId track, const char* name, SliceKind kind, Nanos start, Nanos end) {
    return builder.add_slice(start, end - start, track, builder.intern(name), kind);
  };
  add(main, "net", SliceKind::Module, 0, 100);
  const SliceId forward = add(main, "mul", SliceKind::Operator, 20, 50);
  add(engine, "autograd::engine::evaluate_function: MulBackward0", SliceKind::Operator, 200, 300);
  const SliceId backward = add(engine, "MulBackward0", SliceKind::Operator, 210, 240);
  add(engine, "aten::add", SliceKind::Operator, 250, 290);
  const SliceId launch = add(engine, "launch", SliceKind::Runtime, 260, 262);
  const SliceId kernel = add(stream, "k", SliceKind::Kernel, 270, 283);
  builder.nest(1);
  builder.add_launch_link(launch, kernel);
  builder.add_backward_link(forward, backward);
  const Trace trace = builder.finish();
  const std::vector<ModuleStats> stats = module_stats(trace);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].device_total, 13);
  EXPECT_EQ(stats[0].device_backward, 13);
}

TEST(Modules, AModuleInsideOfItselfCountsOnce) {
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  const TrackId stream = builder.add_track({});
  const StringId name = builder.intern("block");
  builder.add_slice(0, 100, main, name, SliceKind::Module);
  builder.add_slice(10, 50, main, name, SliceKind::Module);
  const SliceId launch = builder.add_slice(20, 2, main, builder.intern("l"), SliceKind::Runtime);
  const SliceId kernel = builder.add_slice(30, 9, stream, builder.intern("k"), SliceKind::Kernel);
  builder.nest(1);
  builder.add_launch_link(launch, kernel);
  const Trace trace = builder.finish();
  const std::vector<ModuleStats> stats = module_stats(trace);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].calls, 2);
  EXPECT_EQ(stats[0].host_total, 100);
  EXPECT_EQ(stats[0].host_self, 100);
  EXPECT_EQ(stats[0].device_total, 9);
}

}  // namespace
}  // namespace sonde
