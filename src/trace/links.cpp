#include "trace/links.hpp"

#include <algorithm>
#include <numeric>

namespace sonde {

void Links::seal() {
  const auto sorted_by_target = [&] {
    std::vector<std::uint32_t> order(from_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
      return to_[a] != to_[b] ? to_[a] < to_[b] : a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);
    return order;
  };

  std::vector<std::uint32_t> order = sorted_by_target();
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return to_[a] == to_[b]; }),
              order.end());
  const auto by_source = [&](std::uint32_t a, std::uint32_t b) {
    return from_[a] != from_[b] ? from_[a] < from_[b] : to_[a] < to_[b];
  };
  if (!std::is_sorted(order.begin(), order.end(), by_source)) {
    std::sort(order.begin(), order.end(), by_source);
  }
  std::vector<SliceId> from(order.size());
  std::vector<SliceId> to(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    from[i] = from_[order[i]];
    to[i] = to_[order[i]];
  }
  from_.swap(from);
  to_.swap(to);
  by_target_ = sorted_by_target();
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
  return (from_.size() + to_.size()) * sizeof(SliceId) +
         by_target_.size() * sizeof(by_target_[0]);
}

}  // namespace sonde
