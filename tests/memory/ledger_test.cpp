#include "capture/memory/ledger.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace sonde::memory {
namespace {

constexpr tables::Memory kPython = tables::Memory::Python;
constexpr tables::Memory kNative = tables::Memory::Native;

struct Book {
  Book() : ledger(std::make_unique<Ledger>()) {}
  ~Book() { ledger->clear(); }
  std::uint64_t peak(std::uint32_t site) {
    ledger->publish(ledger->site(site));
    return ledger->site(site).peak;
  }
  std::unique_ptr<Ledger> ledger;
};

TEST(MemoryLedger, KeepsFramesAndKindsApart) {
  Book book;
  const std::uint32_t first = book.ledger->site_of(1, kPython);
  EXPECT_EQ(book.ledger->site_of(1, kPython), first);
  EXPECT_NE(book.ledger->site_of(1, kNative), first);
  EXPECT_NE(book.ledger->site_of(2, kPython), first);
  for (std::uint32_t frame = 0; frame < 5000; ++frame) {
    book.ledger->allocate(book.ledger->site_of(frame, kNative), {frame, kOneAllocation});
  }
  for (std::uint32_t frame = 0; frame < 5000; ++frame) {
    EXPECT_EQ(book.ledger->site(book.ledger->site_of(frame, kNative)).allocated, frame);
  }
}

TEST(MemoryLedger, ThePeakIsWhatLivedWhenTheWholeWasLargest) {
  Book book;
  const std::uint32_t a = book.ledger->site_of(1, kPython);
  const std::uint32_t b = book.ledger->site_of(2, kPython);
  book.ledger->allocate(a, {100, kOneAllocation});
  book.ledger->release(a, {90, kOneAllocation});
  book.ledger->allocate(b, {95, kOneAllocation});  // 105: the peak
  book.ledger->release(b, {95, kOneAllocation});
  book.ledger->allocate(a, {50, kOneAllocation});
  EXPECT_EQ(book.ledger->peak(), 105);
  EXPECT_EQ(book.peak(a), 10u);
  EXPECT_EQ(book.peak(b), 95u);
}

// Against one that copies everything at each new maximum.
TEST(MemoryLedger, AgreesWithCopiesOfEverything) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Book book;
    std::mt19937 random(seed);
    std::map<std::uint32_t, std::uint64_t> live;
    std::map<std::uint32_t, std::uint64_t> at_peak;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> blocks;
    std::int64_t total = 0;
    std::int64_t highest = 0;
    for (int i = 0; i < 3000; ++i) {
      if (blocks.empty() || random() % 100 < 52) {
        const std::uint32_t site = book.ledger->site_of(random() % 40, kPython);
        const std::uint64_t size = random() % 1000;
        book.ledger->allocate(site, {size, kOneAllocation});
        blocks.emplace_back(site, size);
        live[site] += size;
        total += static_cast<std::int64_t>(size);
        if (total > highest) {
          highest = total;
          at_peak = live;
        }
      } else {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        const auto [site, size] = blocks.back();
        blocks.pop_back();
        book.ledger->release(site, {size, kOneAllocation});
        live[site] -= size;
        total -= static_cast<std::int64_t>(size);
      }
      if (random() % 200 == 0) book.ledger->publish_all();
    }
    ASSERT_EQ(book.ledger->peak(), highest);
    ASSERT_EQ(book.ledger->live(), total);
    for (const auto& [site, bytes] : live) {
      ASSERT_EQ(book.peak(site), at_peak[site]) << "seed " << seed << " site " << site;
      ASSERT_EQ(book.ledger->site(site).live(), bytes);
    }
  }
}

TEST(MemoryLedger, RowsFollow) {
  Book book;
  tables::SiteRow row{};
  const std::uint32_t site = book.ledger->site_of(9, kNative);
  book.ledger->site(site).row = &row;
  book.ledger->allocate(site, weight_of(300'000, 512 * 1024));
  book.ledger->allocate(site, weight_of(300'000, 512 * 1024));
  book.ledger->release(site, weight_of(300'000, 512 * 1024));
  EXPECT_EQ(row.allocations, 5u);  // 2 of 2.29
  EXPECT_EQ(row.frees, 2u);
  EXPECT_EQ(row.allocated_bytes, 2 * row.freed_bytes);
  EXPECT_EQ(row.peak_bytes, row.allocated_bytes);
}

}  // namespace
}  // namespace sonde::memory
