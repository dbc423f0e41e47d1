#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.hpp"

namespace sonde {

// The whole of `text` as a number; nothing where it is none or does not fit.
inline std::optional<std::int64_t> parse_integer(std::string_view text, int base = 10) {
  std::int64_t out = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return out;
}

inline std::optional<double> parse_real(std::string_view text) {
  double out = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(out)) return std::nullopt;
  return out;
}

// A number of `unit` nanoseconds as whole nanoseconds; nothing beyond what a clock can show.
inline std::optional<Nanos> to_nanos(double value, double unit) {
  const double nanos = value * unit;
  if (!(std::fabs(nanos) <= static_cast<double>(kMaxTime))) return std::nullopt;
  return static_cast<Nanos>(std::llround(nanos));
}

// "203265.377019" (seconds) as nanoseconds, every digit kept.
std::optional<Nanos> parse_seconds(std::string_view text);

// A cost as a whole number, kept within ±2^62 so that sums of a few do not overflow.
inline std::int64_t to_cost(double value) {
  constexpr double kLimit = 4'611'686'018'427'387'904.0;
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::int64_t{1} << 62;
  if (value <= -kLimit) return -(std::int64_t{1} << 62);
  return static_cast<std::int64_t>(std::llround(value));
}

// a + b, held at the ends of the range instead of running over.
inline std::int64_t add_costs(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

}  // namespace sonde
