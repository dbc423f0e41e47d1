#pragma once

#include <cstdint>
#include <cstring>

// Which allocations are looked at, and how many bytes one of them stands for.
//
// Each byte that is allocated is chosen with the same chance, 1 in `gap`, independently of all
// others; an allocation is a sample when one of its bytes is chosen. So one of `size` bytes is a
// sample with the chance 1 - e^(-size/gap), and standing for size / chance bytes it is neither too
// much nor too little on average.

namespace sonde::memory {

// Natural logarithm for numbers in (0, 1]; good to 1e-12. The library may not need libm.
inline double natural_log(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000F'FFFF'FFFF'FFFFu) | std::uint64_t{1023} << 52;
  double mantissa;
  std::memcpy(&mantissa, &bits, sizeof mantissa);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int power = 17; power >= 1; power -= 2) sum = sum * square + 1.0 / power;
  return 2 * s * sum + exponent * 0.6931471805599453;
}

// 1 - e^-value for value >= 0.
inline double chance_of(double value) {
  if (value > 40) return 1;
  if (value < 0.05) {
    return value * (1 - value / 2 * (1 - value / 3 * (1 - value / 4 * (1 - value / 5))));
  }
  const int halvings = static_cast<int>(value / 0.6931471805599453);
  const double rest = value - halvings * 0.6931471805599453;
  double sum = 1;
  for (int i = 18; i >= 1; --i) sum = 1 - rest / i * sum;
  double scale = 1;
  for (int i = 0; i < halvings; ++i) scale /= 2;
  return 1 - sum * scale;
}

inline std::uint64_t next_random(std::uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545'F491'4F6C'DD1Du;
}

// How many bytes are passed over until the next chosen one.
inline std::int64_t next_gap(std::uint64_t& random, std::uint64_t gap) {
  const double uniform =
      (static_cast<double>(next_random(random) >> 11) + 1) * (1.0 / 9007199254740992.0);
  return static_cast<std::int64_t>(-natural_log(uniform) * static_cast<double>(gap));
}

// What a sample stands for. Numbers of allocations are in 1/1024.
struct Weight {
  std::uint64_t bytes;
  std::uint64_t count;
};
inline constexpr std::uint64_t kOneAllocation = 1024;

inline Weight weight_of(std::uint64_t size, std::uint64_t gap) {
  if (gap == 0) return {size, kOneAllocation};
  const double bytes = static_cast<double>(size);
  const double chance = chance_of(bytes / static_cast<double>(gap));
  if (chance <= 0) return {gap, gap * kOneAllocation};
  return {static_cast<std::uint64_t>(bytes / chance + 0.5),
          static_cast<std::uint64_t>(kOneAllocation / chance + 0.5)};
}

}  // namespace sonde::memory
