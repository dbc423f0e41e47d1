#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde {

// Indices that sort `values` ascending, ties in the order in which numpy's default (introsort)
// argsort leaves them. Needed only where a peer's tables depend on that order.
std::vector<std::uint32_t> numpy_argsort(std::span<const std::int64_t> values);

// Indices that sort `values` descending as pandas' sort_values(ascending=False) does.
std::vector<std::uint32_t> pandas_descending(std::span<const std::int64_t> values);

// The fallback of numpy_argsort() for inputs that defeat the quicksort; for tests.
void numpy_heapsort(std::span<const std::int64_t> values, std::span<std::uint32_t> order);

}  // namespace sonde
