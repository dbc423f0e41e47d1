#include "analysis/torch_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace sonde {
namespace {

Allocation record(Nanos time, std::int64_t bytes, std::int32_t device_type) {
  Allocation allocation;
  allocation.time = time;
  allocation.bytes = bytes;
  allocation.device_type = device_type;
  return allocation;
}

TEST(TorchMemory, BothEndsOfAnEventBelongToIt) {
  TorchMemory memory({record(10, 1, 0), record(20, 2, 0), record(30, 4, 0), record(31, 8, 0)});
  EXPECT_EQ(memory.claim(10, 30).cpu, 7);
  EXPECT_EQ(memory.unclaimed(), (std::vector<std::uint32_t>{3}));
}

TEST(TorchMemory, DeviceTypesFallOnTheSideThatPyTorchCountsThemOn) {
  for (const std::int32_t cpu : {0, 2, 5}) EXPECT_EQ(torch_bytes(record(0, 7, cpu)).cpu, 7);
  for (const std::int32_t device : {1, 6, 12, 20}) {
    EXPECT_EQ(torch_bytes(record(0, 7, device)).device, 7);
    EXPECT_EQ(torch_bytes(record(0, 7, device)).cpu, 0);
  }
  EXPECT_EQ(torch_bytes(record(0, 7, 13)).device, 0);
  EXPECT_EQ(torch_bytes(record(0, 7, 13)).cpu, 0);
}

TEST(TorchMemory, OutOfMemoryRecordsAreNeverClaimed) {
  std::vector<Allocation> records = {record(5, 100, 1), record(3, 50, 1)};
  records[0].out_of_memory = true;
  TorchMemory memory(records);
  EXPECT_EQ(memory.claim(0, 10).device, 50);
  EXPECT_TRUE(memory.unclaimed().empty());
  EXPECT_EQ(memory.out_of_memory(), (std::vector<std::uint32_t>{0}));
}

TEST(TorchMemory, AbsurdSizesWrapAround) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  TorchMemory memory({record(0, kMax, 0), record(1, kMax, 0), record(2, 5, 0)});
  EXPECT_EQ(memory.claim(0, 1).cpu, -2);
  EXPECT_EQ(memory.claim(2, 2).cpu, 5);
}

TEST(TorchMemory, AgreesWithLookingAtEveryRecordForEveryEvent) {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Allocation> records;
    for (std::int64_t i = pick(0, 30); i > 0; --i) {
      records.push_back(record(pick(0, 40), pick(-100, 100), pick(0, 1) != 0 ? 1 : 0));
    }
    TorchMemory memory(records);
    std::vector<bool> claimed(records.size(), false);
    for (std::int64_t i = pick(0, 10); i > 0; --i) {
      const Nanos start = pick(-5, 45);
      const Nanos end = start + pick(0, 10);
      TorchBytes expected;
      for (std::size_t r = 0; r < records.size(); ++r) {
        if (records[r].time < start || records[r].time > end) continue;
        (records[r].device_type == 0 ? expected.cpu : expected.device) += records[r].bytes;
        claimed[r] = true;
      }
      const TorchBytes got = memory.claim(start, end);
      EXPECT_EQ(got.cpu, expected.cpu);
      EXPECT_EQ(got.device, expected.device);
    }
    std::vector<std::uint32_t> expected;
    for (std::uint32_t r = 0; r < records.size(); ++r) {
      if (!claimed[r]) expected.push_back(r);
    }
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
      return records[a].time < records[b].time;
    });
    EXPECT_EQ(memory.unclaimed(), expected);
  }
}

}  // namespace
}  // namespace sonde
