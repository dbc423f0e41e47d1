#include <gtest/gtest.h>

#include <map>
#include <string>

#include "import/loader.hpp"
#include "tests/support/files.hpp"
#include "tests/support/process.hpp"

namespace sonde {
namespace {

TEST(BenchmarkExample, PrintsItsSummaryAndRecordsItsNumbers) {
  const test::ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  const testing::ProcessResult result = testing::run_process(
      {SONDE_BINARY, "run", "--quiet", "-o", run, "--", SONDE_EXAMPLES "/benchmark", "14", "16"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("==Perf Summary=="), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("|    batch_cost   |"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("IPS Unit: images/s"), std::string::npos) << result.out;

  const Result<LoadedSet> loaded = load_traces({run});
  ASSERT_TRUE(loaded.ok());
  std::map<std::string, int> counters;
  for (const NamedTrace& named : loaded->traces) {
    for (const CounterValue& value : named.trace.counters()) {
      const Track& track = named.trace.track(value.track);
      if (named.trace.text(track.name) != "benchmark") continue;
      ++counters[std::string(named.trace.text(value.counter))];
      EXPECT_GE(value.value, 0);
    }
  }
  EXPECT_EQ(counters,
            (std::map<std::string, int>{{"reader_cost", 14}, {"batch_cost", 14}, {"ips", 14}}));
}

TEST(PaddleStyle, OfARunHasPhasesAndProcessors) {
  const test::ScratchFolder folder;
  const std::string run = (folder.path() / "run").string();
  testing::run_process(
      {SONDE_BINARY, "run", "--quiet", "-o", run, "--", SONDE_EXAMPLES "/lenet", "12", "16"});
  const testing::ProcessResult report = testing::run_process(
      {SONDE_BINARY, "report", run, "--style", "paddle", "--op-detail", "off"});
  ASSERT_EQ(report.status, 0) << report.err;
  for (const char* part : {"CPU(Process)", "ProfileStep      12", "  Dataloader     12",
                           "  Forward        12", "  Backward       12", "  Optimization   12",
                           "Operator Summary", "Memory Summary - Place(cpu)"}) {
    EXPECT_NE(report.out.find(part), std::string::npos) << part << "\n" << report.out;
  }
  EXPECT_EQ(report.out.find("nan"), std::string::npos) << report.out;
  EXPECT_EQ(report.out.find("CPU(Process)                    - "), std::string::npos);
}

}  // namespace
}  // namespace sonde
