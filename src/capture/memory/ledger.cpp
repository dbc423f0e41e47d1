#include "capture/memory/ledger.hpp"

#include <string.h>

namespace sonde::memory {
namespace {

constexpr std::uint32_t kFirstSites = 256;

std::uint64_t whole(std::uint64_t count) { return (count + kOneAllocation / 2) / kOneAllocation; }

// Somebody may read the file meanwhile.
void store(std::uint64_t& place, std::uint64_t value) {
  __atomic_store_n(&place, value, __ATOMIC_RELAXED);
}

}  // namespace

bool Ledger::grow() {
  const std::uint32_t wanted = capacity_ ? capacity_ * 2 : kFirstSites;
  auto* const sites = static_cast<Site*>(map_memory(wanted * sizeof(Site)));
  if (!sites) return false;
  if (sites_) {
    memcpy(sites, sites_, count_ * sizeof(Site));
    munmap(sites_, capacity_ * sizeof(Site));
  }
  sites_ = sites;
  capacity_ = wanted;
  return true;
}

std::uint32_t Ledger::site_of(std::uint32_t frame, tables::Memory memory) {
  const std::uint64_t hash = mix(std::uint64_t{frame} << 1 | static_cast<std::uint32_t>(memory));
  const Key* const known =
      keys_.find(hash, [&](const Key& key) { return key.frame == frame && key.memory == memory; });
  if (known) return known->site;
  if (count_ == capacity_ && !grow()) return kNoSite;
  if (!keys_.add(hash, {0, frame, memory, count_})) return kNoSite;
  Site& site = sites_[count_];
  site = {};
  site.frame = frame;
  site.memory = memory;
  site.epoch = epoch_;
  return count_++;
}

void Ledger::allocate(std::uint32_t number, const Weight& weight) {
  Site& site = sites_[number];
  settle(site);
  site.allocations += weight.count;
  site.allocated += weight.bytes;
  allocated_ += weight.bytes;
  ++samples_;
  live_ += static_cast<std::int64_t>(weight.bytes);
  if (live_ > peak_) {
    peak_ = live_;
    ++epoch_;
  }
  publish(site);
}

void Ledger::release(std::uint32_t number, const Weight& weight) {
  Site& site = sites_[number];
  settle(site);
  site.frees += weight.count;
  site.freed += weight.bytes;
  live_ -= static_cast<std::int64_t>(weight.bytes);
  publish(site);
}

void Ledger::publish(Site& site) {
  settle(site);
  tables::SiteRow* const row = site.row;
  if (!row) return;
  store(row->allocations, whole(site.allocations));
  store(row->allocated_bytes, site.allocated);
  store(row->frees, whole(site.frees));
  store(row->freed_bytes, site.freed);
  store(row->peak_bytes, site.peak);
}

void Ledger::publish_all() {
  for (std::uint32_t i = 0; i < count_; ++i) publish(sites_[i]);
}

void Ledger::clear() {
  keys_.clear();
  if (sites_) munmap(sites_, capacity_ * sizeof(Site));
  sites_ = nullptr;
  count_ = capacity_ = 0;
  live_ = peak_ = 0;
  epoch_ = allocated_ = samples_ = 0;
}

}  // namespace sonde::memory
