// The numbers alone: what of them is recorded, the integration tests see.
#define SONDE_DISABLE

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sonde/benchmark.hpp"
#include "tests/support/golden.hpp"

namespace sonde {
namespace {

double now = 0;
double test_clock() { return now; }

// One step: reads for so long, then works for the rest.
void step(Benchmark& benchmark, double reader, double batch, double samples = -1) {
  {
    const auto reading = benchmark.read();
    now += reader;
  }
  now += batch - reader;
  if (samples < 0)
    benchmark.step();
  else
    benchmark.step(samples);
}

TEST(Benchmark, GivesTheNumbersOfEachStep) {
  now = 100;
  Benchmark benchmark(Benchmark::Rule::Exact, test_clock);
  benchmark.begin();
  step(benchmark, 0.5, 2, 32);
  EXPECT_DOUBLE_EQ(benchmark.last().reader_cost, 0.5);
  EXPECT_DOUBLE_EQ(benchmark.last().batch_cost, 2);
  EXPECT_DOUBLE_EQ(benchmark.last().ips, 16);
  step(benchmark, 0.25, 1, 32);
  EXPECT_DOUBLE_EQ(benchmark.last().reader_cost, 0.25);
  EXPECT_DOUBLE_EQ(benchmark.last().ips, 32);
  EXPECT_EQ(benchmark.step_info("images"),
            " reader_cost: 0.37500 s batch_cost: 1.50000 s ips: 21.333 images/s");
  EXPECT_EQ(benchmark.step_info(), "");
  EXPECT_EQ(benchmark.summary(), "");
}

TEST(Benchmark, LeavesOutTheFirstTenSteps) {
  now = 0;
  Benchmark benchmark(Benchmark::Rule::Exact, test_clock);
  benchmark.begin();
  for (int i = 0; i < 10; ++i) step(benchmark, 5, 50);
  EXPECT_EQ(benchmark.summary(), "");
  step(benchmark, 0.1, 1);
  step(benchmark, 0.3, 3);
  EXPECT_EQ(benchmark.summary(),
            "============================================Perf Summary=========================="
            "==================\n"
            "Reader Ratio: 10.000%\n"
            "Time Unit: s, IPS Unit: steps/s\n"
            "|                 |       avg       |       max       |       min       |\n"
            "|   reader_cost   |     0.20000     |     0.30000     |     0.10000     |\n"
            "|    batch_cost   |     2.00000     |     3.00000     |     1.00000     |\n"
            "|       ips       |     0.50000     |     1.00000     |     0.33333     |\n");
}

// PaddlePaddle counts the tenth step in the sum alone, and finds no least among values that only
// rise.
TEST(Benchmark, CountsAsPaddleDoesWhereAsked) {
  now = 0;
  Benchmark benchmark(Benchmark::Rule::Paddle, test_clock);
  benchmark.begin();
  for (int i = 0; i < 9; ++i) step(benchmark, 0, 50, 4);
  step(benchmark, 0, 1, 4);
  step(benchmark, 0, 2, 4);
  step(benchmark, 0, 4, 4);
  const std::string summary = benchmark.summary();
  EXPECT_NE(summary.find("Time Unit: s, IPS Unit: samples/s\n"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("Reader"), std::string::npos);
  EXPECT_NE(
      summary.find("|    batch_cost   |     3.50000     |     4.00000     |       inf       |"),
      std::string::npos)
      << summary;
  EXPECT_NE(
      summary.find("|       ips       |     1.71429     |     4.00000     |     1.00000     |"),
      std::string::npos)
      << summary;
}

TEST(Benchmark, DoesNotCountAPause) {
  now = 0;
  Benchmark benchmark(Benchmark::Rule::Exact, test_clock);
  benchmark.begin();
  now += 1;
  benchmark.pause();
  step(benchmark, 7, 70);
  benchmark.resume();
  now += 1;
  benchmark.step();
  EXPECT_EQ(benchmark.steps(), 1u);
  EXPECT_DOUBLE_EQ(benchmark.last().batch_cost, 2);
  EXPECT_DOUBLE_EQ(benchmark.last().reader_cost, 0);
}

// 39 steps whose averages, greatest and least are those of the reference.
TEST(Benchmark, PrintsThePerfSummaryOfTheReference) {
  const std::string path = std::string(SONDE_SHARED_REFERENCE) + "/paddle-summary.log";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared reference";
  const std::string reference = testing::read_file(path);
  const std::size_t begin = reference.find("====");
  ASSERT_NE(begin, std::string::npos);
  now = 0;
  Benchmark benchmark(Benchmark::Rule::Exact, test_clock);
  benchmark.begin();
  for (int i = 0; i < 10; ++i) step(benchmark, 0.001, 0.5);
  constexpr int kCounted = 29;
  const double batch_sum = 0.699862 * kCounted;
  const double reader_sum = 0.000742 * kCounted;
  step(benchmark, 0.00117, 9.352232);
  step(benchmark, 0.00031, 0.2221635);
  for (int i = 2; i < kCounted; ++i) {
    step(benchmark, (reader_sum - 0.00148) / (kCounted - 2),
         (batch_sum - 9.352232 - 0.2221635) / (kCounted - 2));
  }
  EXPECT_EQ(benchmark.summary(), reference.substr(begin));
}

}  // namespace
}  // namespace sonde
