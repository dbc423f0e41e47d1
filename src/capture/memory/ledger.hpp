#pragma once

#include <cstdint>

#include "capture/memory/chance.hpp"
#include "capture/memory/mapped_table.hpp"
#include "trace/tables/format.hpp"

namespace sonde::memory {

// What each place has allocated and freed, and what of it lived when the whole was largest. Used
// under one lock. Memory of zeros is an empty ledger.
//
// The peak costs nothing when it moves: each new maximum is only a new number (`epoch_`). A site
// that has not changed since then still holds what it held at that moment, and says so when it
// changes next, or when it is asked.
class Ledger {
 public:
  static constexpr std::uint32_t kNoSite = 0xFFFF'FFFFu;

  struct Site {
    std::uint32_t frame;
    tables::Memory memory;
    std::uint64_t allocations;  // in 1/1024, as all counts
    std::uint64_t allocated;
    std::uint64_t frees;
    std::uint64_t freed;
    std::uint64_t peak;
    std::uint64_t epoch;
    tables::SiteRow* row;  // nullptr: not in the file (yet)

    std::uint64_t live() const { return allocated - freed; }
  };

  // The site of this frame; kNoSite where there is no memory.
  std::uint32_t site_of(std::uint32_t frame, tables::Memory memory);
  void allocate(std::uint32_t site, const Weight& weight);
  void release(std::uint32_t site, const Weight& weight);

  Site& site(std::uint32_t number) { return sites_[number]; }
  std::uint32_t count() const { return count_; }
  std::int64_t live() const { return live_; }
  std::int64_t peak() const { return peak_; }
  std::uint64_t allocated() const { return allocated_; }
  std::uint64_t samples() const { return samples_; }

  // Brings the site's row up to date.
  void publish(Site& site);
  void publish_all();
  void clear();

 private:
  struct Key {
    std::uint64_t hash;
    std::uint32_t frame;
    tables::Memory memory;
    std::uint32_t site;
  };

  void settle(Site& site) {
    if (site.epoch == epoch_) return;
    site.peak = site.live();
    site.epoch = epoch_;
  }
  bool grow();

  MappedTable<Key> keys_;
  Site* sites_;
  std::uint32_t count_;
  std::uint32_t capacity_;
  std::int64_t live_;
  std::int64_t peak_;
  std::uint64_t epoch_;
  std::uint64_t allocated_;
  std::uint64_t samples_;
};

}  // namespace sonde::memory
