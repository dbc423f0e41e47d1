#include "capture/memory/chance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sonde::memory {
namespace {

TEST(MemoryChance, LogarithmAndExponentialAreThoseOfTheMathematicsLibrary) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(1e-16, 1);
  for (int i = 0; i < 100'000; ++i) {
    const double value = unit(random);
    EXPECT_NEAR(natural_log(value), std::log(value), 1e-11 * (1 + std::fabs(std::log(value))));
  }
  EXPECT_EQ(natural_log(1), 0);
  EXPECT_NEAR(natural_log(std::ldexp(1.0, -53)), -53 * std::log(2), 1e-10);
  for (double value = 1e-12; value < 100; value *= 1.07) {
    EXPECT_NEAR(chance_of(value) / -std::expm1(-value), 1, 1e-9) << value;
  }
  EXPECT_EQ(chance_of(0), 0);
}

// Over many allocations, what the samples stand for is what was allocated.
TEST(MemoryChance, SamplesStandForWhatWasAllocated) {
  constexpr std::uint64_t kGap = 512 * 1024;
  for (const std::uint64_t size : {32u, 4096u, 300'000u, 524'288u, 5'000'000u}) {
    std::uint64_t random = 88172645463325252u + size;
    const std::uint64_t allocations = 1000ull * 1024 * 1024 / size;
    std::int64_t left = next_gap(random, kGap);
    double bytes = 0;
    double count = 0;
    double samples = 0;
    for (std::uint64_t i = 0; i < allocations; ++i) {
      left -= static_cast<std::int64_t>(size);
      if (left >= 0) continue;
      left = next_gap(random, kGap);
      const Weight weight = weight_of(size, kGap);
      bytes += static_cast<double>(weight.bytes);
      count += static_cast<double>(weight.count) / kOneAllocation;
      ++samples;
    }
    // Four standard deviations of the number of samples.
    const double bound = 4 / std::sqrt(samples);
    EXPECT_NEAR(bytes / static_cast<double>(allocations * size), 1, bound) << size;
    EXPECT_NEAR(count / static_cast<double>(allocations), 1, bound) << size;
  }
}

TEST(MemoryChance, GapsHaveTheirMeanAndTheirSpread) {
  std::uint64_t random = 1;
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 200'000;
  for (int i = 0; i < kCount; ++i) {
    const auto gap = static_cast<double>(next_gap(random, 1000));
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 999.5, 10);
  EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean), 1000, 15);
}

TEST(MemoryChance, EveryAllocationStandsForItselfWithoutAGap) {
  EXPECT_EQ(weight_of(77, 0).bytes, 77u);
  EXPECT_EQ(weight_of(77, 0).count, kOneAllocation);
  EXPECT_EQ(weight_of(0, 0).bytes, 0u);
  // A large one is itself, nearly.
  EXPECT_EQ(weight_of(40 << 20, 512 << 10).bytes, 40u << 20);
}

}  // namespace
}  // namespace sonde::memory
