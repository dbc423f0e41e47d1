#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde {

// Sorts by the bits from `low` up to the highest one that is set; equal ones stay in order. For
// keys whose interesting part is short, as ids are: one pass for each 11 bits of it.
inline void radix_sort(std::vector<std::uint64_t>& keys, unsigned low) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  if (std::is_sorted(keys.begin(), keys.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return a >> low < b >> low; })) {
    return;
  }
  std::uint64_t all = 0;
  for (const std::uint64_t key : keys) all |= key;
  const auto high = static_cast<unsigned>(std::bit_width(all));
  std::vector<std::uint64_t> other(keys.size());
  for (unsigned shift = low; shift < high; shift += kBits) {
    std::array<std::size_t, kBuckets> next{};
    for (const std::uint64_t key : keys) ++next[key >> shift & (kBuckets - 1)];
    std::size_t sum = 0;
    for (std::size_t& count : next) {
      const std::size_t here = count;
      count = sum;
      sum += here;
    }
    for (const std::uint64_t key : keys) other[next[key >> shift & (kBuckets - 1)]++] = key;
    keys.swap(other);
  }
}

}  // namespace sonde
