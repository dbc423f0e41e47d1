#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

// Mixes all bits of `x`, so that dense ids spread over a power-of-two table.
inline std::uint64_t mix_bits(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  return x;
}

// Open-addressing map from a 64-bit key to a small value. Keys are mostly ids that count up: they
// lie side by side, without a single collision, until a long probe shows that they do not; then
// they are scattered for good. Insertion order does not show: nothing iterates over the map, so
// that no output can depend on hash order.
template <class Value>
class FlatMap {
 public:
  FlatMap() = default;

  std::size_t size() const { return size_; }

  void reserve(std::size_t count) {
    std::size_t capacity = 16;
    while (capacity * 3 < count * 4) capacity *= 2;
    if (capacity > slots_.size()) rehash(capacity);
  }

  Value* find(std::uint64_t key) {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = home(key);; i = (i + 1) & mask()) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }
  const Value* find(std::uint64_t key) const { return const_cast<FlatMap*>(this)->find(key); }

  // The value under `key`, made from `fallback` where there is none. `inserted` tells which.
  Value& get_or_insert(std::uint64_t key, const Value& fallback, bool* inserted = nullptr) {
    if ((size_ + 1) * 4 > slots_.size() * 3) rehash(slots_.empty() ? 16 : slots_.size() * 2);
    std::size_t probes = 0;
    for (std::size_t i = home(key);; i = (i + 1) & mask()) {
      Slot& slot = slots_[i];
      if (!slot.used) {
        slot = {key, fallback, true};
        ++size_;
        if (inserted) *inserted = true;
        return slot.value;
      }
      if (slot.key == key) {
        if (inserted) *inserted = false;
        return slot.value;
      }
      if (++probes == kLongProbe && !scattered_) {
        scattered_ = true;
        rehash(slots_.size());
        return get_or_insert(key, fallback, inserted);
      }
    }
  }

  void set(std::uint64_t key, const Value& value) { get_or_insert(key, value) = value; }

 private:
  static constexpr std::size_t kLongProbe = 32;

  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    bool used = false;
  };

  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(std::uint64_t key) const { return (scattered_ ? mix_bits(key) : key) & mask(); }

  void rehash(std::size_t capacity) {
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!slot.used) continue;
      std::size_t i = home(slot.key);
      while (slots_[i].used) i = (i + 1) & mask();
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  bool scattered_ = false;
};

}  // namespace sonde
