#include "trace/links.hpp"

#include <algorithm>
#include <cstdint>

#include "base/radix_sort.hpp"

namespace sonde {

void Links::seal() {
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  const auto pack = [](std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  };
  // Of the links to one target the first stays.
  std::vector<std::uint64_t> keys(from_.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = pack(to_[i].value, i);
  radix_sort(keys, 32);
  keys.erase(std::unique(keys.begin(), keys.end(),
                         [](std::uint64_t a, std::uint64_t b) { return a >> 32 == b >> 32; }),
             keys.end());
  // Targets ascend already: a stable sort by source leaves them so.
  for (std::uint64_t& key : keys) {
    key = pack(from_[key & kLow].value, static_cast<std::uint32_t>(key >> 32));
  }
  radix_sort(keys, 32);
  from_.resize(keys.size());
  to_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    from_[i] = SliceId(static_cast<std::uint32_t>(keys[i] >> 32));
    to_[i] = SliceId(static_cast<std::uint32_t>(keys[i]));
  }
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = pack(to_[i].value, i);
  radix_sort(keys, 32);
  by_target_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) by_target_[i] = static_cast<std::uint32_t>(keys[i]);
}

std::span<const SliceId> Links::targets(SliceId from) const {
  const auto [first, last] = std::equal_range(from_.begin(), from_.end(), from);
  return {to_.data() + (first - from_.begin()), static_cast<std::size_t>(last - first)};
}

SliceId Links::source(SliceId to) const {
  const auto at = std::lower_bound(by_target_.begin(), by_target_.end(), to,
                                   [&](std::uint32_t i, SliceId key) { return to_[i] < key; });
  return at != by_target_.end() && to_[*at] == to ? from_[*at] : SliceId();
}

std::size_t Links::bytes() const {
  return (from_.size() + to_.size()) * sizeof(SliceId) + by_target_.size() * sizeof(by_target_[0]);
}

}  // namespace sonde
