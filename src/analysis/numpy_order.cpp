#include "analysis/numpy_order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace sonde {
namespace {

constexpr std::ptrdiff_t kSmall = 16;

struct Range {
  std::ptrdiff_t left;
  std::ptrdiff_t right;  // inclusive
  int depth_left;
};

class Introsort {
 public:
  Introsort(std::span<const std::int64_t> values, std::span<std::uint32_t> order)
      : values_(values), order_(order) {}

  void run() {
    if (order_.empty()) return;
    const int depth = 2 * (std::bit_width(order_.size()) - 1);
    std::vector<Range> waiting{{0, static_cast<std::ptrdiff_t>(order_.size()) - 1, depth}};
    while (!waiting.empty()) {
      Range range = waiting.back();
      waiting.pop_back();
      if (range.depth_left < 0) {
        numpy_heapsort(values_,
                       order_.subspan(static_cast<std::size_t>(range.left),
                                      static_cast<std::size_t>(range.right - range.left + 1)));
        continue;
      }
      while (range.right - range.left > kSmall) {
        const std::ptrdiff_t pivot = partition(range.left, range.right);
        --range.depth_left;
        // The smaller side goes on, so that the list of waiting ranges stays short.
        if (pivot - range.left < range.right - pivot) {
          waiting.push_back({pivot + 1, range.right, range.depth_left});
          range.right = pivot - 1;
        } else {
          waiting.push_back({range.left, pivot - 1, range.depth_left});
          range.left = pivot + 1;
        }
      }
      insertion_sort(range.left, range.right);
    }
  }

 private:
  std::int64_t at(std::ptrdiff_t i) const { return values_[order_[static_cast<std::size_t>(i)]]; }
  void swap(std::ptrdiff_t i, std::ptrdiff_t j) {
    std::swap(order_[static_cast<std::size_t>(i)], order_[static_cast<std::size_t>(j)]);
  }

  // Median of three, the pivot parked beside the right end, then from both ends inwards. Gives the
  // pivot's final place.
  std::ptrdiff_t partition(std::ptrdiff_t left, std::ptrdiff_t right) {
    const std::ptrdiff_t middle = left + (right - left) / 2;
    if (at(middle) < at(left)) swap(middle, left);
    if (at(right) < at(middle)) swap(right, middle);
    if (at(middle) < at(left)) swap(middle, left);
    const std::int64_t pivot = at(middle);
    std::ptrdiff_t i = left;
    std::ptrdiff_t j = right - 1;
    swap(middle, j);
    for (;;) {
      do ++i;
      while (at(i) < pivot);
      do --j;
      while (pivot < at(j));
      if (i >= j) break;
      swap(i, j);
    }
    swap(i, right - 1);
    return i;
  }

  void insertion_sort(std::ptrdiff_t left, std::ptrdiff_t right) {
    for (std::ptrdiff_t i = left + 1; i <= right; ++i) {
      for (std::ptrdiff_t j = i; j > left && at(j) < at(j - 1); --j) swap(j, j - 1);
    }
  }

  std::span<const std::int64_t> values_;
  std::span<std::uint32_t> order_;
};

}  // namespace

void numpy_heapsort(std::span<const std::int64_t> values, std::span<std::uint32_t> order) {
  // The heap counts from 1.
  const auto sift_down = [&](std::size_t hole, std::size_t size, std::uint32_t item) {
    for (std::size_t child = hole * 2; child <= size; child = hole * 2) {
      if (child < size && values[order[child - 1]] < values[order[child]]) ++child;
      if (values[item] >= values[order[child - 1]]) break;
      order[hole - 1] = order[child - 1];
      hole = child;
    }
    order[hole - 1] = item;
  };
  for (std::size_t root = order.size() / 2; root > 0; --root) {
    sift_down(root, order.size(), order[root - 1]);
  }
  for (std::size_t size = order.size(); size > 1; --size) {
    const std::uint32_t last = order[size - 1];
    order[size - 1] = order[0];
    sift_down(1, size - 1, last);
  }
}

std::vector<std::uint32_t> numpy_argsort(std::span<const std::int64_t> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  Introsort(values, order).run();
  return order;
}

std::vector<std::uint32_t> pandas_descending(std::span<const std::int64_t> values) {
  const std::vector<std::int64_t> reversed(values.rbegin(), values.rend());
  std::vector<std::uint32_t> order = numpy_argsort(reversed);
  std::reverse(order.begin(), order.end());
  const auto last = static_cast<std::uint32_t>(values.size()) - 1;
  for (std::uint32_t& index : order) index = last - index;
  return order;
}

}  // namespace sonde
