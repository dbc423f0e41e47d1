#pragma once

#include <string>
#include <vector>

#include "trace/builder.hpp"

namespace sonde::test {

// Names that break careless writers: markup, quotes, control characters, separators of the formats.
inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> kNames = {
      "<script>alert(1)</script>",
      "a & b < c > d \" e ' f",
      "]]></title><img src=x>",
      "line\nbreak\rand\ttab",
      std::string("nul\0 bell\a esc\x1b[31m", 19),
      "semi;colon 12",
      "(7) looks like a reference",
      "fn=(1) calls=3 4",
      "back\\slash \\n \"quoted\"",
      "ünïcode → 日本語 🙂",
      "{\"json\": [1]}",
      "'; DROP TABLE slice; --",
      "comma, and \"quote\"",
      "-- <!-- comment -->",
      "",
      "\xEF\xBF\xBE no character",
      "%s %n $(rm -rf)",
  };
  return kNames;
}

// One of everything, with nested, overlapping and empty slices, and hostile names everywhere.
inline Trace rich_trace() {
  TraceBuilder builder;
  builder.meta().format = "sonde";
  builder.meta().producer = "test <&\"> writer";
  builder.meta().wall_clock = true;
  builder.meta().base_time = 1'700'000'000'000'000'000;
  builder.meta().devices.push_back({0, "GPU \"<&>", 1 << 30, 9, 0, 132, 2048, 32});
  const auto text = [&](std::string_view s) { return builder.intern(s); };

  Track thread;
  thread.pid = 100;
  thread.tid = 101;
  thread.process = text("py<thon>");
  thread.name = text("main \"&\" thread");
  const TrackId main = builder.add_track(thread);
  Track stream;
  stream.type = TrackType::Stream;
  stream.pid = 100;
  stream.tid = 7;
  stream.device = 0;
  stream.process = thread.process;
  stream.name = text("stream 7");
  const TrackId gpu = builder.add_track(stream);
  Track async;
  async.type = TrackType::Async;
  async.pid = 100;
  async.process = thread.process;
  async.name = text("io:1");
  const TrackId lane = builder.add_track(async);

  Nanos at = 1000;
  const SliceId step = builder.add_slice(at, 100'000, main, text("Step#3"), SliceKind::Step);
  (void)step;
  std::vector<SliceId> named;
  for (const std::string& name : hostile_names()) {
    const SliceId slice = builder.add_slice(at, 4000, main, text(name), SliceKind::Operator);
    OperatorRow row;
    row.inputs = builder.intern_inputs({text("[[2, 3]]"), text("not [json"), {}, {}});
    builder.add_operator(slice, row);
    builder.add_argument(SliceArg(slice, text("n<&\">"), std::int64_t{-7}));
    builder.add_argument(SliceArg(slice, text("x"), 0.5));
    builder.add_argument(SliceArg(slice, text("s"), text(name)));
    builder.add_argument(SliceArg(slice, text("j"), text("[1, {\"a\": null}]"), ArgType::Json));
    named.push_back(slice);
    builder.add_slice(at + 500, 1500, main, text("inner"), SliceKind::UserRange);
    at += 5000;
  }
  const SliceId launch = builder.add_slice(at, 300, main, text("launch"), SliceKind::Runtime);
  const SliceId kernel =
      builder.add_slice(at + 400, 900, gpu, text("gemm<float>"), SliceKind::Kernel);
  DeviceRow work;
  work.stream = 7;
  work.device = 0;
  work.grid = {1, 2, 3};
  work.occupancy = 12.5F;
  builder.add_device_work(kernel, work);
  // Overlap in part, on a thread and on a lane.
  builder.add_slice(at + 2000, 1000, main, text("left"), SliceKind::UserRange);
  builder.add_slice(at + 2500, 1000, main, text("right"), SliceKind::UserRange);
  builder.add_slice(at + 2600, 0, main, text("nothing"), SliceKind::UserRange);
  builder.add_slice(at, 1000, lane, text("request"), SliceKind::UserRange);
  builder.add_slice(at + 500, 1000, lane, text("request"), SliceKind::UserRange);

  const MarkerId marker = builder.add_marker({at + 10, main, text("mark <1>"), 'p', text("cat&")});
  builder.add_argument(MarkerArg(marker, text("why"), text("be\"cause")));
  builder.add_marker({at + 11, main, text("global"), 'g', {}});
  builder.add_counter({at, main, text("load <%>"), text("cpu"), 0.25});
  builder.add_counter({at + 100, main, text("load <%>"), text("cpu"), 1e20});
  builder.add_allocation(
      {at + 20, 0x1000, 512, 512, 1024, main, 1, 0, false, {}, text("tag<&>"), {}});
  builder.add_allocation({at + 30, 0x1000, -512, 0, 1024, main, 1, 0, false, {}, {}, {}});
  builder.nest(1);
  builder.add_launch_link(launch, kernel);
  builder.add_operator_link(named[0], launch);
  builder.add_backward_link(named[0], named[1]);
  builder.add_flow_link(named[1], named[2]);
  return builder.finish();
}

// Samples of two types on two threads, with hostile names.
inline Trace sampled_trace() {
  TraceBuilder builder;
  builder.meta().format = "samples";
  const auto text = [&](std::string_view s) { return builder.intern(s); };
  std::vector<TrackId> tracks;
  for (const int tid : {11, 12}) {
    Track track;
    track.pid = 10;
    track.tid = tid;
    track.name = text("thread \"" + std::to_string(tid) + "\"");
    tracks.push_back(builder.add_track(track));
  }
  builder.add_sample_type({text("cpu"), text("ns"), true});
  builder.add_sample_type({text("alloc_space"), text("bytes"), true});
  const StackId outer = builder.intern_stack({{}, text("main"), text("a.py"), 1});
  Nanos time = 0;
  for (const std::string& name : hostile_names()) {
    const StackId inner = builder.intern_stack({outer, text(name), text("b <&>.py"), 20});
    builder.add_sample({time, tracks[0], inner, 1000, 0});
    builder.add_sample({time, tracks[0], inner, 64, 1});
    time += 1000;
  }
  builder.add_sample({time, tracks[1], outer, 3000, 0});
  builder.nest(1);
  return builder.finish();
}

// What cProfile keeps: main calls f twice and itself through f.
inline Trace profiled_trace() {
  TraceBuilder builder;
  builder.meta().format = "pstats";
  const auto text = [&](std::string_view s) { return builder.intern(s); };
  CallProfile& profile = builder.call_profile();
  profile.types = {{text("time"), text("ns")}};
  profile.functions = {
      {text("<module>"), text("train \"é\".py"), {}, 1, 1, 1},
      {text("step"), text("train \"é\".py"), {}, 10, 7, 2},
      {text("<built-in method builtins.len>"), text("~"), {}, 0, 3'000'000'000, 3'000'000'000}};
  profile.function_self = {1'000'000, 30'000'000, 500'000'000};
  profile.function_total = {531'000'000, 530'000'000, 500'000'000};
  profile.calls = {{FunctionId(std::uint32_t{0}), FunctionId(std::uint32_t{1}), 0, 2, 2},
                   {FunctionId(std::uint32_t{1}), FunctionId(std::uint32_t{1}), 0, 5, 0},
                   {FunctionId(std::uint32_t{1}), FunctionId(std::uint32_t{2}), 0, 3'000'000'000,
                    3'000'000'000}};
  profile.call_self = {10'000'000, 20'000'000, 500'000'000};
  profile.call_total = {530'000'000, 100'000'000, 500'000'000};
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde::test
