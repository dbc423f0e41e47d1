#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

// The agent for Python, in real processes of every interpreter that it was built for. What is to be
// seen is written down in Python, in tests/integration/python/, and checked by a reader of its own.

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::ProcessResult;
using testing::run_process;

const fs::path kScripts = fs::path(SONDE_TEST_DATA).parent_path() / "integration" / "python";
const fs::path kSupport = fs::path(SONDE_TEST_DATA).parent_path() / "support";

std::vector<std::string> interpreters() {
  std::vector<std::string> out;
  std::istringstream list(SONDE_AGENT_PYTHONS);
  for (std::string path; std::getline(list, path, '|');) {
    if (!path.empty()) out.push_back(path);
  }
  // The test is there and skips itself where there is nothing to test.
  if (out.empty()) out.emplace_back();
  return out;
}

class PythonAgentTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) {
      GTEST_SKIP() << "no CPython 3.9 or newer with its headers was found when Sonde was built";
    }
    if (!fs::exists(GetParam())) GTEST_SKIP() << GetParam() << " is not there any more";
  }

  void expect(const std::string& script, std::vector<std::string> arguments,
              const std::string& answer) {
    std::vector<std::string> command = {GetParam(), (kScripts / script).string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    // What the test itself runs under is none of the program's.
    const testing::Environment environment = {{"PYTHONPATH", ""}, {"PYTHONDONTWRITEBYTECODE", "1"}};
    const ProcessResult result = run_process(command, {}, environment);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(result.out.substr(0, answer.size()), answer) << result.out << result.err;
  }

  void scenario(const std::string& name) {
    expect("scenarios.py",
           {name, SONDE_BINARY, SONDE_PYTHON_PACKAGE, kSupport.string(), folder_.path().string()},
           "right");
  }

  test::ScratchFolder folder_;
};

TEST_P(PythonAgentTest, CountsCallsAndCallersAsCProfileDoes) {
  expect("compare_functions.py", {SONDE_PYTHON_PACKAGE, kSupport.string(), folder_.path().string()},
         "equal");
}

TEST_P(PythonAgentTest, CountsLinesAsATraceFunctionAndLineProfilerDo) {
  expect("compare_lines.py", {SONDE_PYTHON_PACKAGE, kSupport.string(), folder_.path().string()},
         "equal");
}

TEST_P(PythonAgentTest, RunsCopiesOfCodeThatDifferInProbesAlone) {
  const ProcessResult version =
      run_process({GetParam(), "-c", "import sys; print(sys.version)"}, {});
  if (version.out.rfind("3.11.", 0) != 0) GTEST_SKIP() << "CPython 3.11 alone runs copies";
  expect("line_copies.py", {SONDE_PYTHON_PACKAGE, kSupport.string(), folder_.path().string()},
         "right");
}

TEST_P(PythonAgentTest, LeavesOutputAndExitCodeAsTheyAre) { scenario("output_is_unchanged"); }
TEST_P(PythonAgentTest, RecordsChildrenOfEveryKind) { scenario("children_are_recorded"); }
TEST_P(PythonAgentTest, KeepsTheDataOfAKilledProcess) { scenario("killed_process_keeps_its_data"); }
TEST_P(PythonAgentTest, EndsInOrderAfterAnInterrupt) { scenario("interrupt_is_an_orderly_end"); }
TEST_P(PythonAgentTest, TellsOfAProfileFunctionOfTheProgram) { scenario("own_profile_function"); }
TEST_P(PythonAgentTest, RecordsModulesAndEntryPoints) { scenario("modules_and_entry_points"); }
TEST_P(PythonAgentTest, ChainsToTheUsersSitecustomize) { scenario("own_sitecustomize"); }
TEST_P(PythonAgentTest, SaysWhatToDoWithoutAFittingAgent) {
  scenario("no_agent_for_this_interpreter");
}
TEST_P(PythonAgentTest, PutsEveryCallOnTheTimeline) { scenario("timeline_has_every_call"); }
TEST_P(PythonAgentTest, AgreesWithTheClock) { scenario("times_agree_with_the_clock"); }
TEST_P(PythonAgentTest, RecordsTheLinesThatAreAskedFor) { scenario("include_and_exclude"); }
TEST_P(PythonAgentTest, CopesWithDepthBreadthAndShortLivedCode) {
  scenario("depth_breadth_and_short_lived_code");
}
TEST_P(PythonAgentTest, RecordsThreadsThatWereBornInC) { scenario("threads_that_were_born_in_c"); }
TEST_P(PythonAgentTest, KeepsTheLimitAndTheTimelineApart) { scenario("limits_and_changes"); }
TEST_P(PythonAgentTest, LetsTheProgramImportThePackage) {
  const std::string script =
      "import sys; path = list(sys.path); import sonde; sonde.step(); print(path == sys.path)";
  const ProcessResult result =
      run_process({SONDE_BINARY, "run", "-q", "-o", (folder_.path() / "run").string(), "--",
                   GetParam(), "-c", script},
                  {}, {{"PYTHONPATH", ""}, {"PYTHONDONTWRITEBYTECODE", "1"}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "True\n");
}
TEST_P(PythonAgentTest, TellsNativeCallsWhereTheyAre) { scenario("places_are_exact"); }
TEST_P(PythonAgentTest, RecordsNetworksByTheirCalls) { scenario("networks_by_their_calls"); }
TEST_P(PythonAgentTest, MayStartLateAndAgain) { scenario("starts_late_and_again"); }

std::string test_name(const ::testing::TestParamInfo<std::string>& parameter) {
  std::string name;
  for (const char c : parameter.param) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  }
  return name.empty() ? "None" : name;
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonAgentTest, ::testing::ValuesIn(interpreters()),
                         test_name);

}  // namespace
}  // namespace sonde
