#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdint>

namespace sonde::python {

// Spreads the bits of a number.
inline std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32;
  value *= 0x9E37'79B9'7F4A'7C15u;
  return value ^ value >> 29;
}

// Entries found by a hash, for the slow ways: open addressing, grows, forgets nothing one by one.
// An entry has `std::uint64_t hash`, 0 in an empty place.
template <class Entry>
class HashTable {
 public:
  // The entry with this hash that `same` agrees to, or nullptr.
  template <class Same>
  Entry* find(std::uint64_t hash, Same same) const {
    if (!places_) return nullptr;
    hash |= 1;
    for (std::size_t i = hash >> 1 & mask_;; i = (i + 1) & mask_) {
      Entry& entry = places_[i];
      if (entry.hash == 0) return nullptr;
      if (entry.hash == hash && same(entry)) return &entry;
    }
  }

  // False where there is no memory.
  bool add(std::uint64_t hash, Entry entry) {
    if ((!places_ || count_ * 4 >= capacity() * 3) && !grow()) return false;
    entry.hash = hash | 1;
    put(places_, mask_, entry);
    ++count_;
    return true;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < capacity(); ++i) {
      if (places_[i].hash != 0) visit(places_[i]);
    }
  }

  void clear() {
    free(places_);
    places_ = nullptr;
    mask_ = count_ = 0;
  }

 private:
  std::size_t capacity() const { return places_ ? mask_ + 1 : 0; }

  static void put(Entry* places, std::size_t mask, const Entry& entry) {
    std::size_t i = entry.hash >> 1 & mask;
    while (places[i].hash != 0) i = (i + 1) & mask;
    places[i] = entry;
  }

  bool grow() {
    const std::size_t old_capacity = capacity();
    Entry* const old = places_;
    const std::size_t wanted = old_capacity ? old_capacity * 2 : 256;
    auto* const places = static_cast<Entry*>(calloc(wanted, sizeof(Entry)));
    if (!places) return false;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].hash != 0) put(places, wanted - 1, old[i]);
    }
    places_ = places;
    mask_ = wanted - 1;
    free(old);
    return true;
  }

  Entry* places_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

}  // namespace sonde::python
