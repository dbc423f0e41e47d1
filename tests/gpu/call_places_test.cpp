// The lines of a Python program that launch GPU work without torch, with a driver and a CUPTI that
// are made up.

#include <fstream>
#include <sstream>

#include "tests/gpu/recorded_programs.hpp"

namespace sonde::testing {
namespace {

const std::string kFolder =
    (std::filesystem::path(SONDE_TEST_DATA).parent_path() / "gpu" / "python").string();
const std::string kProgram = kFolder + "/program.py";
const std::string kPython = "/usr/bin/python3";

class CallPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    const ProcessResult suffix = run_process(
        {kPython, "-c", "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'), end='')"});
    const std::filesystem::path agent = std::filesystem::path(SONDE_BINARY).parent_path() /
                                        "../lib/sonde/python/sonde" / ("_agent" + suffix.out);
    if (suffix.status != 0 || !std::filesystem::exists(agent)) {
      GTEST_SKIP() << "there is no agent for " << kPython;
    }
  }

  Trace record(const std::vector<std::string>& words, const Environment& more = {}) {
    std::vector<std::string> command = {
        SONDE_BINARY, "run", "--force", "-o",    folder_.path() + "/run",
        "--gpu",      "on",  "--",      kPython, kProgram};
    command.insert(command.end(), words.begin(), words.end());
    Environment environment = {{"LD_LIBRARY_PATH", SONDE_FAKE_FOLDER},
                               {"SONDE_CUDA_FLUSH_MS", "50"}};
    environment.insert(environment.end(), more.begin(), more.end());
    const ProcessResult result = run_process(command, {}, environment);
    EXPECT_EQ(result.status, 0) << result.err;
    Result<LoadedSet> set = load_traces({folder_.path() + "/run"});
    EXPECT_TRUE(set) << set.error().text();
    if (!set) return {};
    for (NamedTrace& named : set->traces) {
      if (!named.trace.device_work().empty()) return std::move(named.trace);
    }
    ADD_FAILURE() << "no GPU work was recorded: " << result.err;
    return {};
  }

  // Kernel -> the line of the program that launched it -> how often; -1 without a place.
  static std::map<std::string, std::map<int, int>> lines_of(const Trace& trace) {
    std::map<std::string, std::map<int, int>> out;
    for (const SliceId kernel : slices_of(trace, SliceKind::Kernel)) {
      const SliceId call = trace.launch_to_device().source(kernel);
      const StackId* place = call.valid() ? trace.places().find(call) : nullptr;
      int line = -1;
      for (StackId at = place ? *place : StackId(); at.valid();
           at = trace.stacks()[at.index()].caller) {
        const StackFrame& frame = trace.stacks()[at.index()];
        if (trace.text(frame.file) == kProgram) {
          line = frame.line;
          break;
        }
      }
      ++out[std::string(trace.name(kernel))][line];
    }
    return out;
  }

  RunFolder folder_;
};

// What program.py says of itself.
std::map<std::string, std::map<int, int>> lines_said() {
  std::map<std::string, std::map<int, int>> out;
  std::ifstream file(kProgram);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t mark = line.find("  #: ");
    if (mark == std::string::npos) continue;
    std::istringstream words(line.substr(mark + 5));
    std::string name;
    int count = 0;
    words >> name >> count;
    out[name][number] = count;
  }
  return out;
}

TEST_F(CallPlaces, EachLaunchKnowsItsLine) {
  const Trace trace = record({});
  ASSERT_EQ(lines_said().size(), 4u);
  EXPECT_EQ(lines_of(trace), lines_said());
  // Neither the driver's call inside of the runtime's nor calls that launch nothing have one.
  EXPECT_EQ(trace.places().size(), 14u);
  EXPECT_EQ(trace.losses().find("call_places_unused"), nullptr);
}

TEST_F(CallPlaces, CanBeSwitchedOff) {
  const Trace trace = record({}, {{"SONDE_CUDA_LINES", "off"}});
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 14u);
  EXPECT_TRUE(trace.places().empty());
}

// Its profiler would find CUPTI taken.
TEST_F(CallPlaces, RoomIsMadeForTorch) {
  const std::string torch = folder_.path() + "/libtorch_cuda.so";
  std::filesystem::copy_file(std::string(SONDE_FAKE_FOLDER) + "/libnvidia-ml.so.1", torch);
  const Trace trace = record({"torch", torch});
  const auto lines = lines_of(trace);
  ASSERT_TRUE(lines.contains("beside_torch"));
  EXPECT_EQ(lines.at("beside_torch").begin()->first, -1);
  EXPECT_FALSE(lines.at("in_function").contains(-1));
  const Trace asked = record({"torch", torch}, {{"SONDE_CUDA_LINES", "on"}});
  EXPECT_FALSE(lines_of(asked)["beside_torch"].contains(-1));
}

TEST_F(CallPlaces, AnotherToolIsMadeRoomForAndFollowed) {
  const Trace trace = record({"take"});
  const auto lines = lines_of(trace);
  ASSERT_TRUE(lines.contains("afterwards"));
  EXPECT_FALSE(lines.at("afterwards").contains(-1));
  const LossLedger::Entry* const takeover = trace.losses().find("gpu_other_tool");
  ASSERT_NE(takeover, nullptr);
  EXPECT_NE(takeover->sentence.find("Some Profiler"), std::string::npos) << takeover->sentence;
}

}  // namespace
}  // namespace sonde::testing
