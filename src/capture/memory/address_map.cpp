#include "capture/memory/address_map.hpp"

namespace sonde::memory {
namespace {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

void AddressMap::count(const void* address, bool more) {
  std::uint8_t& place = filter_[filter_place(address)];
  std::uint8_t seen = __atomic_load_n(&place, __ATOMIC_RELAXED);
  while (seen != kStuck) {
    const auto next = static_cast<std::uint8_t>(more ? seen + 1 : seen - 1);
    if (__atomic_compare_exchange_n(&place, &seen, next, true, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      return;
    }
  }
}

bool AddressMap::add(const void* address, std::uint64_t size, std::uint32_t site) {
  const std::uint64_t hash = hash_of(address);
  const auto number = reinterpret_cast<std::uint64_t>(address);
  Part& part = part_of(hash);
  const Lock lock(part.lock);
  if (!part.blocks.add(hash, {0, number, size, site, 0})) return false;
  count(address, true);
  return true;
}

bool AddressMap::take(const void* address, Block& out) {
  const std::uint64_t hash = hash_of(address);
  const auto number = reinterpret_cast<std::uint64_t>(address);
  Part& part = part_of(hash);
  const Lock lock(part.lock);
  Block* const found =
      part.blocks.find(hash, [&](const Block& block) { return block.address == number; });
  if (!found) return false;
  out = part.blocks.take(found);
  count(address, false);
  return true;
}

void AddressMap::clear() {
  for (Part& part : parts_) {
    const Lock lock(part.lock);
    part.blocks.clear();
  }
  for (std::uint8_t& place : filter_) __atomic_store_n(&place, std::uint8_t{0}, __ATOMIC_RELAXED);
}

std::size_t AddressMap::size() {
  std::size_t sum = 0;
  for (Part& part : parts_) {
    const Lock lock(part.lock);
    sum += part.blocks.size();
  }
  return sum;
}

}  // namespace sonde::memory
