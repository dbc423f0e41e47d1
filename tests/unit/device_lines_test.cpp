#include "analysis/device_lines.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/program_files.hpp"
#include "tests/support/files.hpp"
#include "tests/support/tables_run.hpp"
#include "trace/builder.hpp"

namespace sonde {
namespace {

using test::ScratchFolder;
using test::SondeFile;
using test::TablesRun;

std::map<std::string, DeviceLines::Line> by_place(const DeviceLines& device) {
  std::map<std::string, DeviceLines::Line> out;
  for (const DeviceLines::Line& line : device.lines) {
    out[std::string(line.file.substr(line.file.rfind('/') + 1)) + ":" + std::to_string(line.line)] =
        line;
  }
  return out;
}

Nanos sum_of(const DeviceLines& device) {
  Nanos out = 0;
  for (const DeviceLines::Line& line : device.lines) out += line.self;
  return out;
}

// A training step: forward on thread 7, backward on thread 8, which runs no Python. Ticks are 10
// ns.
TraceSet example(const ScratchFolder& folder) {
  TablesRun run(folder.path());
  const std::uint32_t main = run.code("<module>", "/home/me/train.py", 1);
  const std::uint32_t forward = run.code("forward", "/home/me/train.py", 10, "Net.forward");
  const std::uint32_t linear =
      run.code("linear", "/usr/lib/python3/dist-packages/torch/nn/functional.py", 100);
  const std::uint32_t at_call = run.frame(0, main, 30);
  const std::uint32_t at_layer = run.frame(at_call, forward, 12);
  const std::uint32_t in_linear = run.frame(at_layer, linear, 114);
  const std::uint32_t at_loss = run.frame(0, main, 31);
  SondeFile& file = run.recording;
  file.chunk(7);
  file.placed("aten::linear", 100, 200, in_linear);
  file.record(file::RecordType::Operator, SondeFile::kFirstTick + 110, SondeFile::kFirstTick + 190,
              5 + 1, "aten::addmm");
  file.launch(120, 130, 230, 1);
  file.placed("aten::sum", 300, 400, at_loss);
  file.launch(310, 320, 350, 3);
  file.launch(330, 360, 380, 5);
  file.launch(500, 510, 530, 7);  // outside of every operator
  file.chunk(8);
  file.record(file::RecordType::Operator, SondeFile::kFirstTick + 600, SondeFile::kFirstTick + 700,
              5 + 1, "AddmmBackward0", {},
              static_cast<std::uint8_t>(file::OperatorScope::Backward));
  file.launch(610, 620, 820, 9);
  file.record(file::RecordType::Operator, SondeFile::kFirstTick + 900, SondeFile::kFirstTick + 950,
              77 + 1, "OtherBackward", {},
              static_cast<std::uint8_t>(file::OperatorScope::Backward));
  file.launch(910, 920, 927, 11);
  TraceSet set;
  set.push_back({".", "w", "w", run.load()});
  return set;
}

TEST(DeviceLines, WorkCountsOnceForTheInnermostLineOfTheProgram) {
  const ScratchFolder folder;
  const TraceSet set = example(folder);
  const DeviceLines device = device_lines(set);
  auto lines = by_place(device);
  ASSERT_EQ(lines.size(), 4u);
  // 100 ticks forward and 200 backward.
  EXPECT_EQ(lines["train.py:12"].self, 3000);
  EXPECT_EQ(lines["train.py:12"].total, 3000);
  EXPECT_EQ(lines["train.py:12"].backward, 2000);
  EXPECT_EQ(lines["train.py:12"].work, 2);
  EXPECT_EQ(lines["train.py:12"].function, "Net.forward");
  EXPECT_EQ(lines["train.py:30"].self, 0);
  EXPECT_EQ(lines["train.py:30"].total, 3000);
  EXPECT_EQ(lines["functional.py:114"].self, 0);
  EXPECT_EQ(lines["functional.py:114"].total, 3000);
  EXPECT_EQ(lines["train.py:31"].self, 500);
  EXPECT_EQ(lines["train.py:31"].work, 2);
  EXPECT_EQ(lines["train.py:31"].backward, 0);
}

TEST(DeviceLines, TheSumOverLinesIsAllThatHasALine) {
  const ScratchFolder folder;
  const TraceSet set = example(folder);
  const DeviceLines device = device_lines(set);
  EXPECT_EQ(device.placed, sum_of(device));
  EXPECT_EQ(device.placed, 3500);
  // The launch outside of operators, and the backward operator whose forward one is not there.
  EXPECT_EQ(device.whole, 3500 + 200 + 70);
  EXPECT_FALSE(device.begins_only);
  ASSERT_FALSE(device.lines.empty());
  EXPECT_EQ(device.lines.front().line, 12);
}

TEST(DeviceLines, AStackWithoutALineOfTheProgramCountsAtItsEnd) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t outer =
      run.frame(0, run.code("run", "/usr/lib/python3.11/threading.py", 1), 975);
  const std::uint32_t inner =
      run.frame(outer, run.code("pin", "/x/site-packages/torch/pin.py", 1), 20);
  run.recording.chunk(7).placed("aten::copy_", 0, 50, inner);
  run.recording.launch(10, 20, 30, 1);
  TraceSet set;
  set.push_back({".", "w", "w", run.load()});
  auto lines = by_place(device_lines(set));
  EXPECT_EQ(lines["pin.py:20"].self, 100);
  EXPECT_EQ(lines["threading.py:975"].self, 0);
  EXPECT_EQ(lines["threading.py:975"].total, 100);
}

TEST(DeviceLines, ALineThatCallsItselfCountsOnce) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t code = run.code("tree", "/home/me/tree.py", 1);
  const std::uint32_t first = run.frame(0, code, 5);
  const std::uint32_t second = run.frame(first, code, 5);
  run.recording.chunk(7).placed("aten::add", 0, 50, run.frame(second, code, 6));
  run.recording.launch(10, 20, 30, 1);
  TraceSet set;
  set.push_back({".", "w", "w", run.load()});
  auto lines = by_place(device_lines(set));
  EXPECT_EQ(lines["tree.py:5"].total, 100);
  EXPECT_EQ(lines["tree.py:5"].self, 0);
  EXPECT_EQ(lines["tree.py:6"].self, 100);
}

// The engine's own slice around a backward operator, in which gradients are added up behind it.
TEST(DeviceLines, GradientsThatAreAddedUpCountForTheSameLine) {
  const ScratchFolder folder;
  TablesRun run(folder.path());
  const std::uint32_t line = run.frame(0, run.code("f", "/home/me/train.py", 1), 9);
  SondeFile& file = run.recording;
  file.chunk(7).placed("aten::mul", 0, 50, line, 3 + 1);
  file.chunk(8);
  const std::uint64_t at = SondeFile::kFirstTick;
  file.record(file::RecordType::Operator, at + 100, at + 200, 0,
              "autograd::engine::evaluate_function: MulBackward0");
  file.record(file::RecordType::Operator, at + 110, at + 150, 3 + 1, "MulBackward0", {},
              static_cast<std::uint8_t>(file::OperatorScope::Backward));
  file.launch(120, 130, 140, 1);
  file.record(file::RecordType::Operator, at + 160, at + 190, 0, "aten::add");
  file.launch(170, 180, 185, 3);
  TraceSet set;
  set.push_back({".", "w", "w", run.load()});
  const DeviceLines device = device_lines(set);
  ASSERT_EQ(device.lines.size(), 1u);
  EXPECT_EQ(device.lines[0].self, 100 + 50);
  EXPECT_EQ(device.lines[0].backward, 150);
  EXPECT_EQ(device.placed, device.whole);
}

// As torch.profiler writes them with with_stack=True.
TEST(DeviceLines, FunctionsOnTheTimeLineTellWhereTheyBegin) {
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  const TrackId engine = builder.add_track({});
  const TrackId stream = builder.add_track({});
  const auto add = [&](TrackId track, const char* name, SliceKind kind, Nanos start, Nanos end) {
    const SliceId slice = builder.add_slice(start, end - start, track, builder.intern(name), kind);
    if (kind == SliceKind::PythonFunction) builder.add_python(slice, {});
    if (kind == SliceKind::Kernel) builder.add_device_work(slice, {});
    return slice;
  };
  add(main, "train.py(20): step", SliceKind::PythonFunction, 0, 100);
  add(main, "torch/nn/modules/linear.py(125): forward", SliceKind::PythonFunction, 10, 60);
  add(main, "<built-in function linear>", SliceKind::PythonFunction, 15, 55);
  const SliceId forward = add(main, "aten::linear", SliceKind::Operator, 20, 50);
  const SliceId first = add(main, "launch", SliceKind::Runtime, 30, 32);
  const SliceId backward = add(engine, "LinearBackward", SliceKind::Operator, 200, 240);
  const SliceId second = add(engine, "launch", SliceKind::Runtime, 210, 212);
  const SliceId kernels[] = {add(stream, "k", SliceKind::Kernel, 40, 47),
                             add(stream, "k", SliceKind::Kernel, 220, 231)};
  builder.nest(1);
  builder.add_launch_link(first, kernels[0]);
  builder.add_launch_link(second, kernels[1]);
  builder.add_backward_link(forward, backward);
  TraceSet set;
  set.push_back({".", "w", "w", builder.finish()});
  const DeviceLines device = device_lines(set);
  EXPECT_TRUE(device.begins_only);
  auto lines = by_place(device);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines["train.py:20"].self, 7 + 11);
  EXPECT_EQ(lines["train.py:20"].backward, 11);
  EXPECT_EQ(lines["train.py:20"].function, "step");
  EXPECT_EQ(lines["linear.py:125"].self, 0);
  EXPECT_EQ(lines["linear.py:125"].total, 7 + 11);
}

// Neither the depth nor its product with the number of launches costs anything.
TEST(DeviceLines, DeepNestingEnds) {
  constexpr int kDepth = 50'000;
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  const TrackId stream = builder.add_track({});
  std::vector<std::pair<SliceId, SliceId>> links;
  for (int i = 0; i < kDepth; ++i) {
    const std::string name = "deep.py(" + std::to_string(i + 1) + "): f";
    const SliceId function = builder.add_slice(i, 3 * kDepth - 2 * i, main, builder.intern(name),
                                               SliceKind::PythonFunction);
    builder.add_python(function, {});
  }
  for (int i = 0; i < 1000; ++i) {
    const SliceId launch =
        builder.add_slice(kDepth + i, 1, main, builder.intern("l"), SliceKind::Runtime);
    const SliceId kernel =
        builder.add_slice(4 * kDepth + i, 1, stream, builder.intern("k"), SliceKind::Kernel);
    builder.add_device_work(kernel, {});
    links.emplace_back(launch, kernel);
  }
  builder.nest(1);
  for (const auto& [launch, kernel] : links) builder.add_launch_link(launch, kernel);
  TraceSet set;
  set.push_back({".", "w", "w", builder.finish()});
  const DeviceLines device = device_lines(set);
  EXPECT_EQ(device.placed, 1000);
  ASSERT_FALSE(device.lines.empty());
  EXPECT_EQ(device.lines.front().line, kDepth);
}

TEST(DeviceLines, NamesThatAreNoPlacesAreNone) {
  TraceBuilder builder;
  const TrackId main = builder.add_track({});
  const TrackId stream = builder.add_track({});
  for (const char* name : {"(12): f", "a.py(): f", "a.py(0): f", "a.py(99999999999): f",
                           "a.py(1x): f", "a.py(12)", "): ", "nn.Module: Linear_0"}) {
    const SliceId slice =
        builder.add_slice(0, 100, main, builder.intern(name), SliceKind::PythonFunction);
    builder.add_python(slice, {});
  }
  const SliceId launch = builder.add_slice(10, 5, main, builder.intern("l"), SliceKind::Runtime);
  const SliceId kernel = builder.add_slice(20, 9, stream, builder.intern("k"), SliceKind::Kernel);
  builder.add_device_work(kernel, {});
  builder.nest(1);
  builder.add_launch_link(launch, kernel);
  TraceSet set;
  set.push_back({".", "w", "w", builder.finish()});
  const DeviceLines device = device_lines(set);
  EXPECT_TRUE(device.lines.empty());
  EXPECT_EQ(device.whole, 9);
  EXPECT_EQ(device.placed, 0);
}

TEST(ProgramFiles, AreThoseOfNeitherTheStandardLibraryNorPackages) {
  for (const char* file : {"/home/me/train.py", "train.py", "models/net.py", "<stdin>", "<string>",
                           "<ipython-input-3-abc>", "/tmp/ipykernel_12/34.py",
                           "/srv/lib/python_tools/a.py", "/home/me/lib/python3x/a.py"}) {
    EXPECT_TRUE(is_program_file(file)) << file;
  }
  for (const char* file :
       {"", "~", "<frozen importlib._bootstrap>", "<eval_with_key>.1", "/usr/lib/python3.11/abc.py",
        "/opt/conda/lib/python3.12/site-packages/torch/a.py", "/usr/lib64/python3.9/abc.py",
        "/usr/lib/python3/dist-packages/torch/a.py", "torch/nn/functional.py", "contextlib.py"}) {
    EXPECT_FALSE(is_program_file(file)) << file;
  }
}

}  // namespace
}  // namespace sonde
