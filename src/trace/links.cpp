#include "trace/links.hpp"

#include <algorithm>
#include <numeric>

namespace sonde {

void Links::seal() {
  std::vector<std::uint32_t> order(from_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto by_target = [&](std::uint32_t a, std::uint32_t b) {
    return to_[a] != to_[b] ? to_[a] < to_[b] : a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), by_target)) {
    std::sort(order.begin(), order.end(), by_target);
  }
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return to_[a] == to_[b]; }),
              order.end());
  const std::vector<std::uint32_t> target_order = order;

  const auto by_source = [&](std::uint32_t a, std::uint32_t b) {
    return from_[a] != from_[b] ? from_[a] < from_[b] : to_[a] < to_[b];
  };
  if (!std::is_sorted(order.begin(), order.end(), by_source)) {
    std::sort(order.begin(), order.end(), by_source);
  }
  std::vector<SliceId> from(order.size());
  std::vector<SliceId> to(order.size());
  std::vector<std::uint32_t> place(from_.size());  // of each link in the new order
  for (std::size_t i = 0; i < order.size(); ++i) {
    from[i] = from_[order[i]];
    to[i] = to_[order[i]];
    place[order[i]] = static_cast<std::uint32_t>(i);
  }
  from_.swap(from);
  to_.swap(to);
  by_target_.resize(target_order.size());
  for (std::size_t i = 0; i < target_order.size(); ++i) by_target_[i] = place[target_order[i]];
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
