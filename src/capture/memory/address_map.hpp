#pragma once

#include <pthread.h>

#include <cstdint>

#include "capture/memory/mapped_table.hpp"

namespace sonde::memory {

// A block that is a sample and lives.
struct Block {
  std::uint64_t hash;
  std::uint64_t address;
  std::uint64_t size;  // as it was asked for
  std::uint32_t site;
  std::uint32_t reserved;
};

// The samples that live, by address. Many threads at once: a lock for each of a number of parts,
// and before any of them a small filter, so that freeing what is no sample costs one load. Memory
// of zeros is an empty map; allocates nothing but mappings.
class AddressMap {
 public:
  // Whether a block at this address may be in the map. For an address that the caller owns the
  // answer "no" is certain.
  bool may_have(const void* address) const {
    return __atomic_load_n(&filter_[filter_place(address)], __ATOMIC_RELAXED) != 0;
  }
  // False where there is no memory.
  bool add(const void* address, std::uint64_t size, std::uint32_t site);
  // Takes the block out; false where there is none.
  bool take(const void* address, Block& out);
  // While nobody adds.
  void clear();
  std::size_t size();

 private:
  static constexpr std::size_t kParts = 64;
  static constexpr std::size_t kFilterBits = 15;
  static constexpr std::uint8_t kStuck = 255;  // this many or more: it never falls again

  struct alignas(64) Part {
    pthread_mutex_t lock;
    MappedTable<Block> blocks;
  };

  static std::uint64_t hash_of(const void* address) {
    return mix(reinterpret_cast<std::uint64_t>(address) >> 4);
  }
  // By page: what lies together is freed together, and finds its place of the filter in the cache.
  static std::size_t filter_place(const void* address) {
    return (reinterpret_cast<std::uint64_t>(address) >> 12) * 0x9E37'79B9'7F4A'7C15u >>
           (64 - kFilterBits);
  }
  Part& part_of(std::uint64_t hash) { return parts_[hash >> 40 & (kParts - 1)]; }
  void count(const void* address, bool more);

  std::uint8_t filter_[std::size_t{1} << kFilterBits];
  Part parts_[kParts];
};

}  // namespace sonde::memory
