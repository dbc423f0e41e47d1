// Programs that start others, as people use them, under `sonde run`: pytest, the script of an entry
// point, torchrun.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::ProcessResult;
using testing::run_process;

const std::string kPython = "/usr/bin/python3";
const std::string kTwoProcesses =
    (fs::path(SONDE_TEST_DATA).parent_path() / "integration" / "launchers" / "two_processes.py")
        .string();

class Launchers : public ::testing::Test {
 protected:
  ProcessResult record(const std::vector<std::string>& options,
                       const std::vector<std::string>& program) {
    std::vector<std::string> command = {SONDE_BINARY, "run", "-q", "-o", run(), "--force"};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    command.insert(command.end(), program.begin(), program.end());
    return run_process(command);
  }
  std::vector<NamedTrace> traces() const {
    Result<LoadedSet> set = load_traces({run()});
    EXPECT_TRUE(set.ok());
    return set ? std::move(set->traces) : std::vector<NamedTrace>();
  }
  // How often each function was called, in all processes.
  std::map<std::string, std::int64_t> calls() const {
    std::map<std::string, std::int64_t> out;
    for (const NamedTrace& named : traces()) {
      for (const CallProfile::Function& function : named.trace.call_profile().functions) {
        out[std::string(named.trace.text(function.name))] += function.calls;
      }
    }
    return out;
  }
  std::string run() const { return (folder_.path() / "run").string(); }
  static bool has_agent() {
    const std::string pythons = SONDE_AGENT_PYTHONS;
    return pythons.find("/usr/bin/python3") != std::string::npos;
  }

  test::ScratchFolder folder_;
};

class Pytest : public Launchers, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Way, Pytest, ::testing::Bool());

TEST_P(Pytest, RunsItsTestsAndEachIsCounted) {
  if (!has_agent()) GTEST_SKIP() << "no agent for " << kPython;
  if (run_process({kPython, "-m", "pytest", "--version"}).status != 0) {
    GTEST_SKIP() << "pytest is not installed for " << kPython << " (Debian: python3-pytest)";
  }
  if (GetParam() && !fs::exists("/usr/bin/pytest")) GTEST_SKIP() << "no script of that name";
  const std::string file = folder_.write("test_sample.py",
                                         "import pytest\n"
                                         "def work(n): return sum(range(n))\n"
                                         "@pytest.mark.parametrize('n', [1, 2, 3])\n"
                                         "def test_good(n): assert work(n) >= 0\n"
                                         "def test_bad(): assert work(3) == 4\n"
                                         "class TestMore:\n"
                                         "    def test_inner(self): work(5)\n");
  // The script's first line names the interpreter; it is what the entry point of a package becomes.
  std::vector<std::string> program = {"/usr/bin/pytest"};
  if (!GetParam()) program = {kPython, "-m", "pytest"};
  for (const char* word : {"-q", "-p", "no:cacheprovider"}) program.emplace_back(word);
  program.push_back(file);
  const ProcessResult plain = run_process(program);
  const ProcessResult recorded = record({"--python", "function"}, program);
  EXPECT_EQ(plain.status, 1) << plain.out;
  EXPECT_EQ(recorded.status, 1) << recorded.err;
  for (const ProcessResult* result : {&plain, &recorded}) {
    EXPECT_NE(result->out.find("1 failed, 4 passed"), std::string::npos) << result->out;
  }
  const std::map<std::string, std::int64_t> counted = calls();
  const auto of = [&](const std::string& name) {
    const auto at = counted.find(name);
    return at == counted.end() ? 0 : at->second;
  };
  EXPECT_EQ(of("work"), 5);
  EXPECT_EQ(of("test_good"), 3);
  EXPECT_EQ(of("test_bad"), 1);
  EXPECT_EQ(of("test_inner") + of("TestMore.test_inner"), 1);
}

TEST_F(Launchers, TorchrunGivesAFileForEachRank) {
  if (!has_agent()) GTEST_SKIP() << "no agent for " << kPython;
  if (run_process({kPython, "-c",
                   "import torch.distributed.run, torch.distributed as d; "
                   "raise SystemExit(0 if d.is_available() else 1)"})
          .status != 0) {
    GTEST_SKIP() << "torch.distributed is not there for " << kPython << " (Debian: python3-torch)";
  }
  // Where outputs go is told: torch 1.13 with Python 3.11 cannot do with its own defaults.
  const ProcessResult recorded =
      record({}, {kPython, "-m", "torch.distributed.run", "--standalone", "--redirects", "1",
                  "--tee", "1", "--nproc_per_node", "2", kTwoProcesses});
  ASSERT_EQ(recorded.status, 0) << recorded.out << recorded.err;
  for (const char* line : {"rank 0 of 2\n", "rank 1 of 2\n"}) {
    EXPECT_NE(recorded.out.find(line), std::string::npos) << recorded.out;
  }
  std::map<std::int64_t, std::size_t> steps;
  const std::vector<NamedTrace> all = traces();
  for (const NamedTrace& named : all) {
    const Trace& trace = named.trace;
    if (trace.operators().size() == 0) continue;
    EXPECT_EQ(trace.meta().world_size, 2) << named.path;
    for (const SliceId slice : all_slices(trace)) {
      steps[trace.meta().rank] += trace.slices().kind(slice) == SliceKind::Step ? 1 : 0;
    }
  }
  EXPECT_EQ(steps, (std::map<std::int64_t, std::size_t>{{0, 5}, {1, 5}}));
}

}  // namespace
}  // namespace sonde
