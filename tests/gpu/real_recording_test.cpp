// Recordings made on an NVIDIA H200 by scripts/gpu_proof, against what the programs and
// torch.profiler said.

#include <simdjson.h>

#include <cmath>

#include "analysis/device_lines.hpp"
#include "analysis/modules.hpp"
#include "tests/gpu/recorded_programs.hpp"

namespace sonde::testing {
namespace {

std::string data(const std::string& name) { return SONDE_TEST_DATA "/gpu/" + name; }

Trace load(const std::string& name) {
  Result<Trace> trace = load_trace(data(name + "/" + name + ".sonde"), {});
  EXPECT_TRUE(trace) << trace.error().text();
  return trace ? std::move(*trace) : Trace();
}

simdjson::dom::element expectation(simdjson::dom::parser& parser, const std::string& name) {
  simdjson::dom::element out;
  EXPECT_EQ(parser.load(data(name + "/expected.json")).get(out), simdjson::SUCCESS);
  return out;
}

std::size_t count_beginning(const Trace& trace, std::string_view text) {
  std::size_t count = 0;
  for (const SliceId slice : all_slices(trace)) {
    count += is_device_work(trace.slices().kind(slice)) && trace.name(slice).starts_with(text);
  }
  return count;
}

TEST(RealRecording, EverythingThatAKnownProgramDidIsThere) {
  const Trace trace = load("known");
  simdjson::dom::parser parser;
  const simdjson::dom::element said = expectation(parser, "known");
  const auto number = [&](const char* key) {
    return static_cast<std::size_t>(std::int64_t(said[key]));
  };
  EXPECT_EQ(count_beginning(trace, "known_add("), number("known_add") + number("graph_adds"));
  EXPECT_EQ(count_beginning(trace, "known_scale("), number("known_scale") + number("graph_scales"));
  EXPECT_EQ(count_beginning(trace, "Memcpy HtoD (Pinned -> Device)"), number("to_device"));
  EXPECT_EQ(count_beginning(trace, "Memcpy DtoH (Device -> Pinned)"), number("to_host"));
  EXPECT_EQ(count_beginning(trace, "Memcpy DtoD"), number("on_device") + number("graph_copies"));
  EXPECT_EQ(count_beginning(trace, "Memset (Device)"), number("sets") + number("graph_sets"));
  EXPECT_EQ(trace.launch_to_device().size(), trace.device_work().size());
  std::size_t at = 0;
  const simdjson::dom::array events = said["event_ms"];
  const std::vector<SliceId> spins = slices_named(trace, "known_spin(long long)");
  ASSERT_EQ(spins.size(), events.size());
  for (const double milliseconds : events) {
    EXPECT_NEAR(static_cast<double>(trace.slices().duration(spins[at++])) / 1e6, milliseconds,
                0.05 * milliseconds);
  }
}

class RealTraining : public ::testing::TestWithParam<const char*> {};

TEST_P(RealTraining, StepsHaveTheKernelsThatTorchProfilerSaw) {
  const Trace trace = load(GetParam());
  simdjson::dom::parser parser;
  const simdjson::dom::object steps = expectation(parser, GetParam())["steps"];
  ASSERT_EQ(steps.size(), 5u);
  for (const auto& [step, kernels] : steps) {
    Nanos begin = 0;
    Nanos end = 0;
    for (const SliceId slice : slices_named(trace, "proof step " + std::string(step))) {
      const StringId* const category = trace.categories().find(slice);
      if (category == nullptr || trace.text(*category) != "NVTX") continue;
      begin = trace.slices().start(slice);
      end = trace.slices().end(slice);
    }
    ASSERT_GT(end, begin);
    std::map<std::string, std::int64_t, std::less<>> ours;
    double our_time = 0;
    for (const SliceId slice : all_slices(trace)) {
      const Nanos start = trace.slices().start(slice);
      if (!is_device_work(trace.slices().kind(slice)) || start < begin || start >= end) continue;
      ++ours[std::string(trace.name(slice))];
      our_time += static_cast<double>(trace.slices().duration(slice));
    }
    std::map<std::string, std::int64_t, std::less<>> theirs;
    double their_time = 0;
    for (const auto& [name, entry] : simdjson::dom::object(kernels)) {
      theirs[std::string(name)] = std::int64_t(entry.at(0));
      their_time += double(entry.at(1));
    }
    EXPECT_EQ(ours, theirs) << "step " << step;
    EXPECT_NEAR(our_time, their_time, 0.03 * their_time) << "step " << step;
  }
  EXPECT_EQ(trace.launch_to_device().size(), trace.device_work().size());
  EXPECT_GT(trace.operator_to_launch().size(), 900u);
}

INSTANTIATE_TEST_SUITE_P(H200, RealTraining, ::testing::Values("resnet50", "transformer"));

// Of all steps together, on all threads.
TEST(RealRecording, OperatorsHaveTheCountsThatTorchProfilerSaw) {
  const Trace trace = load("transformer");
  std::vector<std::pair<Nanos, Nanos>> steps;
  for (const SliceId slice : all_slices(trace)) {
    const StringId* const category = trace.categories().find(slice);
    if (category != nullptr && trace.text(*category) == "NVTX")
      steps.emplace_back(trace.slices().start(slice), trace.slices().end(slice));
  }
  ASSERT_EQ(steps.size(), 5u);
  std::map<std::string, std::int64_t, std::less<>> ours;
  for (const SliceId slice : all_slices(trace)) {
    const std::string name(trace.name(slice));
    const bool is_operator = name.starts_with("aten::") ||
                             name.find("Backward") != std::string::npos ||
                             name.find("autograd::") != std::string::npos;
    if (!is_operator || trace.slices().kind(slice) != SliceKind::Operator) continue;
    const Nanos start = trace.slices().start(slice);
    for (const auto& [begin, end] : steps) {
      if (begin <= start && start < end) ++ours[name];
    }
  }
  simdjson::dom::parser parser;
  std::map<std::string, std::int64_t, std::less<>> theirs;
  for (const auto& [name, count] :
       simdjson::dom::object(expectation(parser, "transformer")["operators"])) {
    theirs[std::string(name)] = std::int64_t(count);
  }
  EXPECT_EQ(theirs.size(), 100u);
  EXPECT_EQ(ours, theirs);
}

TEST(RealRecording, GpuTimeHasItsLineAndItsModule) {
  const Trace trace = load("transformer");
  const Trace* const only = &trace;
  const DeviceLines device = device_lines(std::span(&only, 1));
  EXPECT_EQ(device.placed, device.whole);
  std::map<std::int32_t, DeviceLines::Line> lines;
  for (const DeviceLines::Line& line : device.lines) {
    if (line.self == 0) continue;
    EXPECT_TRUE(line.file.ends_with("/tests/gpu/train.py")) << line.file;
    lines[line.line] = line;
  }
  // self.head(self.encoder(self.embed(tokens))), the loss, the optimizer's step.
  EXPECT_EQ(lines[28].work, 1120);
  EXPECT_EQ(lines[28].function, "Transformer.forward");
  EXPECT_GT(lines[28].backward, lines[28].total / 2);
  EXPECT_EQ(lines[48].work, 40);
  EXPECT_EQ(lines[51].work, 49);
  EXPECT_EQ(lines[51].backward, 0);
  std::map<std::string, ModuleStats> modules;
  for (const ModuleStats& stats : module_stats(trace)) {
    modules[std::string(trace.text(stats.name))] = stats;
  }
  constexpr std::int64_t kCalls = 8;  // five steps, and three before them
  EXPECT_EQ(modules["nn.Module: Transformer"].calls, kCalls);
  EXPECT_EQ(modules["nn.Module: Transformer.encoder.layers.1.linear2"].calls, kCalls);
  // Its three parts stand in that line, and it does nothing else.
  Nanos parts = 0;
  for (const char* part : {"embed", "encoder", "head"}) {
    parts += modules["nn.Module: Transformer." + std::string(part)].device_total;
  }
  const auto total = static_cast<double>(lines[28].total);
  EXPECT_NEAR(static_cast<double>(parts), total, 0.01 * total);
}

// Cut anywhere, and with any byte changed, a file gives a trace.
TEST(RealRecording, DamagedFilesAreRead) {
  const RunFolder folder;
  const auto copy = [&](const std::string& name, const std::string& bytes) {
    std::FILE* const file = std::fopen((folder.path() + "/" + name).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  };
  const auto inflate = [](const std::string& path) {
    Result<OpenedInput> input = open_input(path);
    EXPECT_TRUE(input);
    std::string out;
    std::vector<char> buffer(1 << 20);
    for (;;) {
      const Result<std::size_t> got = input->source->read(buffer);
      if (!got || *got == 0) return out;
      out.append(buffer.data(), *got);
    }
  };
  copy("a.sonde", inflate(data("known/known.sonde")));
  const std::string whole = inflate(data("known/known.cupti"));
  ASSERT_GT(whole.size(), 100'000u);
  for (std::size_t size = 0; size < whole.size(); size += 7919) {
    copy("a.cupti", whole.substr(0, size));
    EXPECT_TRUE(load_trace(folder.path() + "/a.sonde", {})) << size;
  }
  for (std::size_t at = 64; at < whole.size(); at += 1231) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    copy("a.cupti", damaged);
    EXPECT_TRUE(load_trace(folder.path() + "/a.sonde", {})) << at;
  }
}

}  // namespace
}  // namespace sonde::testing
