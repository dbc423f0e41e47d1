#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sonde {

// Sums of numbers that come from files: what does not fit stays at the border.
inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

inline std::int64_t saturated_difference(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? INT64_MAX : INT64_MIN) : difference;
}

// The nearest whole number; 0 of what is none.
inline std::int64_t saturated_round(double value) {
  constexpr double kMost = 9e18;
  return std::isfinite(value) ? std::llround(std::clamp(value, -kMost, kMost)) : 0;
}

}  // namespace sonde
