#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace sonde::memory {

inline std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9E37'79B9'7F4A'7C15u;
  return value ^ value >> 29;
}

inline void* map_memory(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Entries found by a hash, in mappings of its own: it is used inside of malloc. Memory of zeros is
// an empty table. An entry has `std::uint64_t hash`, 0 in an empty place.
template <class Entry>
class MappedTable {
 public:
  template <class Same>
  Entry* find(std::uint64_t hash, Same same) const {
    if (!places_) return nullptr;
    hash |= kUsed;
    for (std::size_t i = home(hash);; i = (i + 1) & mask_) {
      Entry& entry = places_[i];
      if (entry.hash == 0) return nullptr;
      if (entry.hash == hash && same(entry)) return &entry;
    }
  }

  // nullptr where there is no memory. The entry moves with the next add() or take().
  Entry* add(std::uint64_t hash, Entry entry) {
    if (count_ * 3 >= capacity() * 2 && !grow()) return nullptr;
    entry.hash = hash | kUsed;
    ++count_;
    return put(entry);
  }

  // Takes out what find() found; others move into the gap.
  Entry take(Entry* found) {
    const Entry taken = *found;
    std::size_t gap = static_cast<std::size_t>(found - places_);
    for (std::size_t i = (gap + 1) & mask_; places_[i].hash != 0; i = (i + 1) & mask_) {
      const std::size_t way = (i - home(places_[i].hash)) & mask_;
      if (way >= ((i - gap) & mask_)) {
        places_[gap] = places_[i];
        gap = i;
      }
    }
    places_[gap].hash = 0;
    --count_;
    return taken;
  }

  void clear() {
    if (places_) munmap(places_, capacity() * sizeof(Entry));
    places_ = nullptr;
    mask_ = count_ = 0;
  }

  std::size_t size() const { return count_; }

 private:
  static constexpr std::uint64_t kUsed = std::uint64_t{1} << 63;
  static constexpr std::size_t kFirst = 256;

  std::size_t capacity() const { return places_ ? mask_ + 1 : 0; }
  std::size_t home(std::uint64_t hash) const { return hash & mask_; }

  Entry* put(const Entry& entry) {
    std::size_t i = home(entry.hash);
    while (places_[i].hash != 0) i = (i + 1) & mask_;
    places_[i] = entry;
    return &places_[i];
  }

  bool grow() {
    const std::size_t old_capacity = capacity();
    const std::size_t wanted = old_capacity ? old_capacity * 2 : kFirst;
    auto* const places = static_cast<Entry*>(map_memory(wanted * sizeof(Entry)));
    if (!places) return false;
    Entry* const old = places_;
    places_ = places;
    mask_ = wanted - 1;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].hash != 0) put(old[i]);
    }
    if (old) munmap(old, old_capacity * sizeof(Entry));
    return true;
  }

  Entry* places_;
  std::size_t mask_;
  std::size_t count_;
};

}  // namespace sonde::memory
