#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

// A real training by torch on the CPU under `sonde run`, which changes nothing in the program.

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::ProcessResult;
using testing::run_process;

const std::string kPython = "/usr/bin/python3";
const fs::path kPrograms = fs::path(SONDE_TEST_DATA).parent_path() / "integration" / "torch";
const std::string kTraining = (kPrograms / "train.py").string();
const std::string kKnownLines = (kPrograms / "lines.py").string();
constexpr int kSteps = 4;

class TorchRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_process({kPython, "-c", "import torch"}).status != 0) {
      GTEST_SKIP() << "torch is not installed for " << kPython << " (Debian: python3-torch)";
    }
  }

  // The trace of the training process.
  Trace record(const std::vector<std::string>& options, const std::string& program = kTraining) {
    std::vector<std::string> command = {SONDE_BINARY, "run", "-o", run(), "--force"};
    command.insert(command.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("--"), kPython, program}) command.push_back(word);
    recorded_ = run_process(command);
    EXPECT_EQ(recorded_.status, 0) << recorded_.err;
    Result<LoadedSet> set = load_traces({run()});
    if (!set) return {};
    for (NamedTrace& loaded : set->traces) {
      if (loaded.trace.operators().size() > 0) return std::move(loaded.trace);
    }
    return {};
  }

  std::string run() const { return (folder_.path() / "run").string(); }

  test::ScratchFolder folder_;
  ProcessResult recorded_;
};

std::size_t count_of(const Trace& trace, SliceKind kind) {
  std::size_t count = 0;
  for (const SliceId slice : all_slices(trace)) count += trace.slices().kind(slice) == kind;
  return count;
}

std::map<std::string, int> operators_of_profiler() {
  const ProcessResult peer = run_process({kPython, kTraining, "--profile"});
  EXPECT_EQ(peer.status, 0) << peer.err;
  std::map<std::string, int> out;
  std::istringstream lines(peer.out);
  for (std::string name, count; std::getline(lines, name, '\t') && std::getline(lines, count);) {
    out[name] = std::stoi(count);
  }
  return out;
}

TEST_F(TorchRunTest, SeesTheOperatorsThatTorchsProfilerSees) {
  const Trace trace = record({"--torch", "operators,shapes"});
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < trace.operators().size(); ++i) {
    ++seen[std::string(trace.name(trace.operators().key(i)))];
  }
  ASSERT_GT(seen.size(), 20u);
  // torch.profiler itself loses an event now and then.
  std::map<std::string, int> expected;
  for (int tries = 0; tries < 3 && expected != seen; ++tries) expected = operators_of_profiler();
  EXPECT_EQ(seen, expected);
}

TEST_F(TorchRunTest, LeavesTheProgramAsItIs) {
  const ProcessResult plain = run_process({kPython, kTraining});
  record({});
  EXPECT_EQ(recorded_.out, plain.out);
}

TEST_F(TorchRunTest, KnowsShapesAndLinksForwardToBackward) {
  const Trace trace = record({});
  std::set<std::string> shapes;
  for (std::size_t i = 0; i < trace.operators().size(); ++i) {
    if (trace.name(trace.operators().key(i)) != "aten::linear") continue;
    shapes.insert(std::string(trace.text(trace.inputs(trace.operators().row(i).inputs).shapes)));
  }
  EXPECT_EQ(shapes, (std::set<std::string>{"[[16, 16], [32, 16], [32]]", "[[16, 32], [8, 32], [8]]",
                                           "[[16, 8], [4, 8], [4]]"}));
  std::map<std::string, int> links;
  const Links& backward = trace.forward_to_backward();
  for (std::size_t i = 0; i < backward.size(); ++i) {
    ++links[std::string(trace.name(backward.from(i))) + " -> " +
            std::string(trace.name(backward.to(i)))];
  }
  // Three layers in each step.
  EXPECT_EQ(links["aten::addmm -> AddmmBackward0"], 3 * kSteps);
}

// Torch takes another way through its code where there are hooks, and cannot compile what they
// call.
TEST_F(TorchRunTest, LeavesTheModulesWithoutHooks) {
  const std::string script =
      "import torch\n"
      "net = torch.nn.Linear(2, 2)\n"
      "net(torch.ones(1, 2))\n"
      "module = torch.nn.modules.module\n"
      "print(len(module._global_forward_hooks), len(module._global_forward_pre_hooks),\n"
      "      len(net._forward_hooks), len(net._forward_pre_hooks))\n";
  const ProcessResult result =
      run_process({SONDE_BINARY, "run", "-q", "-o", run(), "--", kPython, "-c", script});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "0 0 0 0\n");
}

// Without batches that tell of it, the first step begins with the module that makes the first node.
TEST_F(TorchRunTest, TheFirstStepHoldsItsModulesWhole) {
  const std::string script =
      "import torch\n"
      "net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())\n"
      "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
      "for _ in range(2):\n"
      "    optimizer.zero_grad()\n"
      "    net(torch.ones(2, 4)).sum().backward()\n"
      "    optimizer.step()\n";
  const ProcessResult result =
      run_process({SONDE_BINARY, "run", "-q", "-o", run(), "--", kPython, "-c", script});
  ASSERT_EQ(result.status, 0) << result.err;
  Result<LoadedSet> set = load_traces({run()});
  ASSERT_TRUE(set);
  std::size_t modules = 0;
  for (const NamedTrace& named : set->traces) {
    const auto& slices = named.trace.slices();
    for (const SliceId slice : all_slices(named.trace)) {
      if (slices.kind(slice) != SliceKind::Module) continue;
      ++modules;
      SliceId outer = slice;
      while (slices.parent(outer).valid()) outer = slices.parent(outer);
      EXPECT_EQ(slices.kind(outer), SliceKind::Step) << named.trace.name(slice);
    }
  }
  EXPECT_EQ(modules, 6u);
}

TEST_F(TorchRunTest, FindsStepsModulesBatchesAndTheOptimizerByItself) {
  const Trace trace = record({});
  EXPECT_EQ(count_of(trace, SliceKind::Step), kSteps);
  // Four zero_grad, four steps; the loader is asked once more and has no batch.
  EXPECT_EQ(count_of(trace, SliceKind::Optimizer), 2 * kSteps);
  EXPECT_EQ(count_of(trace, SliceKind::DataLoader), kSteps + 1);
  std::map<std::string, int> modules;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) == SliceKind::Module) ++modules[std::string(trace.name(slice))];
  }
  const std::map<std::string, int> expected = {
      {"nn.Module: Net", kSteps},        {"nn.Module: Net.body", kSteps},
      {"nn.Module: Net.body.0", kSteps}, {"nn.Module: Net.body.1", kSteps},
      {"nn.Module: Net.body.2", kSteps}, {"nn.Module: Net.head", kSteps},
      {"nn.Module: CrossEntropyLoss", 0}};
  for (const auto& [name, count] : expected) EXPECT_EQ(modules[name], count) << name;
  Nanos last = 0;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Step) continue;
    EXPECT_GE(trace.slices().start(slice), last);
    last = trace.slices().end(slice);
  }
}

// "OPERATOR FILE:LINE FUNCTION" -> how often, of all operators that have a place.
std::map<std::string, int> places_of(const Trace& trace) {
  std::map<std::string, int> out;
  for (std::size_t i = 0; i < trace.places().size(); ++i) {
    const StackFrame& frame = trace.stacks()[trace.places().row(i).index()];
    const std::string file = fs::path(trace.text(frame.file)).filename().string();
    ++out[std::string(trace.name(trace.places().key(i))) + " " + file + ":" +
          std::to_string(frame.line) + " " + std::string(trace.text(frame.function))];
  }
  return out;
}

// What lines.py says of itself.
std::vector<std::string> places_said() {
  std::ifstream file(kKnownLines);
  std::vector<std::string> out;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t mark = line.find("  #: ");
    if (mark == std::string::npos) continue;
    std::istringstream words(line.substr(mark + 5));
    std::string name;
    std::string function;
    int shift = 0;
    words >> name >> function >> shift;
    out.push_back(name + " lines.py:" + std::to_string(number + shift) + " " + function);
  }
  for (const char* name : {"frac", "sin", "cos", "log1p", "expm1"}) {
    const std::string line = std::to_string(std::strlen(name) * 100 + 1);
    out.push_back(std::string("aten::") + name + " made_" + name + ":" + line + " <module>");
  }
  return out;
}

TEST_F(TorchRunTest, OperatorsKnowTheLineThatCalledThem) {
  const Trace trace = record({}, kKnownLines);
  const std::map<std::string, int> places = places_of(trace);
  const std::vector<std::string> said = places_said();
  ASSERT_GE(said.size(), 13u);
  std::map<std::string, std::string> expected;
  for (const std::string& place : said) {
    EXPECT_TRUE(places.contains(place)) << place;
    expected[place.substr(0, place.find(' '))] = place;
  }
  // Nobody else runs these operators: none of them has another place.
  for (const auto& [place, count] : places) {
    const auto known = expected.find(place.substr(0, place.find(' ')));
    if (known == expected.end()) continue;
    EXPECT_EQ(place, known->second);
  }
  const auto count = [&](const char* name) {
    const auto found = places.find(expected[name]);
    return found == places.end() ? 0 : found->second;
  };
  EXPECT_EQ(count("aten::sign"), 2);
  EXPECT_EQ(count("aten::floor"), 3);
  EXPECT_EQ(count("aten::ceil"), 3 * 5);
  EXPECT_EQ(count("aten::exp"), 3);
  EXPECT_EQ(count("aten::frac"), 20);
  EXPECT_EQ(trace.losses().find("places_unknown"), nullptr);
}

TEST_F(TorchRunTest, EachOutermostOperatorHasAPlaceAndAStackUpToTheProgram) {
  const Trace trace = record({});
  std::size_t outermost = 0;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Operator) continue;
    bool inside = false;
    for (SliceId up = trace.slices().parent(slice); up.valid(); up = trace.slices().parent(up)) {
      inside = inside || trace.slices().kind(up) == SliceKind::Operator;
    }
    if (inside) continue;
    ++outermost;
    const StackId* const place = trace.places().find(slice);
    ASSERT_NE(place, nullptr) << trace.name(slice);
    StackId last = *place;
    while (trace.stacks()[last.index()].caller.valid()) {
      last = trace.stacks()[last.index()].caller;
    }
    EXPECT_EQ(trace.text(trace.stacks()[last.index()].file), kTraining) << trace.name(slice);
    EXPECT_EQ(trace.text(trace.stacks()[last.index()].function), "<module>");
  }
  EXPECT_GT(outermost, 50u);
  // With the agent at work besides, both write into the same tables.
  EXPECT_GT(record({"--python", "function"}).places().size(), 50u);
  EXPECT_EQ(record({"--torch", "operators,shapes"}).places().size(), 0u);
}

TEST_F(TorchRunTest, OperatorsAndSamplesOfAProcessAreOneTrace) {
  const Trace trace = record({});
  EXPECT_GT(trace.samples().size(), 0u);
  Nanos first_step = -1;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) == SliceKind::Step) first_step = trace.slices().start(slice);
  }
  // Both count from the same moment: torch is imported, then it trains.
  ASSERT_GE(first_step, 0);
  EXPECT_LT(trace.samples().front().time, first_step);
  EXPECT_LT(trace.span_end(), 600'000'000'000);
}

TEST_F(TorchRunTest, RecordsOnlyWhatIsAskedFor) {
  EXPECT_EQ(record({"--torch", "none"}).operators().size(), 0u);
  const Trace plain = record({"--torch", "operators"});
  EXPECT_GT(plain.operators().size(), 0u);
  EXPECT_EQ(count_of(plain, SliceKind::Step), 0u);
  EXPECT_EQ(count_of(plain, SliceKind::Module), 0u);
  EXPECT_FALSE(plain.meta().record_shapes);
}

TEST_F(TorchRunTest, RefusesAPartThatItDoesNotKnow) {
  const ProcessResult result =
      run_process({SONDE_BINARY, "run", "-o", run(), "--torch", "kernels", "--", "true"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--torch takes operators, shapes, lines, modules and steps"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace sonde
