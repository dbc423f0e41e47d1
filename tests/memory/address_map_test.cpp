#include "capture/memory/address_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace sonde::memory {
namespace {

// As the library has it: memory of zeros.
std::unique_ptr<AddressMap> make_map() { return std::make_unique<AddressMap>(); }

void* address(std::uint64_t number) {
  return reinterpret_cast<void*>(0x7F00'0000'0000u + number * 16);
}

TEST(AddressMap, AgreesWithAnOrderedMap) {
  const auto map = make_map();
  std::map<std::uint64_t, std::uint64_t> model;
  std::mt19937_64 random(7);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t number = random() % 20'000;
    Block block{};
    if (model.contains(number)) {
      ASSERT_TRUE(map->may_have(address(number)));
      ASSERT_TRUE(map->take(address(number), block));
      ASSERT_EQ(block.size, model[number]);
      ASSERT_EQ(block.site, model[number] % 1000);
      model.erase(number);
    } else {
      ASSERT_FALSE(map->take(address(number), block));
      const std::uint64_t size = random() % 100'000;
      ASSERT_TRUE(map->add(address(number), size, static_cast<std::uint32_t>(size % 1000)));
      model[number] = size;
    }
    ASSERT_EQ(map->size(), model.size());
  }
  for (const auto& [number, size] : model) {
    Block block{};
    EXPECT_TRUE(map->take(address(number), block));
    EXPECT_EQ(block.size, size);
  }
  EXPECT_EQ(map->size(), 0u);
}

TEST(AddressMap, SaysNoForMostOfWhatItDoesNotHave) {
  const auto map = make_map();
  // Samples of a gigabyte, one for every half megabyte.
  for (std::uint64_t i = 0; i < 2048; ++i) map->add(address(i * 32768), 100, 1);
  int wrong = 0;
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) wrong += map->may_have(address(random() % (2048 * 32768)));
  EXPECT_LT(wrong, 10'000);
  map->clear();
  EXPECT_EQ(map->size(), 0u);
  for (std::uint64_t i = 0; i < 2048; ++i) ASSERT_FALSE(map->may_have(address(i * 32768)));
}

// Each thread has addresses of its own, as an allocator gives them out; and some wander from one
// thread to the next, as blocks do that another thread frees.
TEST(AddressMap, ManyThreadsAtOnce) {
  const auto map = make_map();
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> handed{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<unsigned>(t));
      std::vector<std::uint64_t> own;
      for (int i = 0; i < kRounds; ++i) {
        const std::uint64_t number =
            static_cast<std::uint64_t>(t) * 10'000'000 + static_cast<std::uint64_t>(i) + 1;
        if (!map->add(address(number), number, static_cast<std::uint32_t>(t))) ++wrong;
        own.push_back(number);
        if (random() % 3 == 0) {
          // Hand one over; whoever finds another one there frees that.
          const std::uint64_t given = handed.exchange(own.back());
          own.pop_back();
          if (given != 0) own.push_back(given);
        }
        if (random() % 2 == 0 && !own.empty()) {
          Block block{};
          if (!map->may_have(address(own.back())) || !map->take(address(own.back()), block) ||
              block.size != own.back()) {
            ++wrong;
          }
          own.pop_back();
        }
      }
      for (const std::uint64_t number : own) {
        Block block{};
        if (!map->take(address(number), block)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(map->size(), handed.load() != 0 ? 1u : 0u);
}

}  // namespace
}  // namespace sonde::memory
