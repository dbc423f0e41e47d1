#include "import/text/numbers.hpp"

namespace sonde {

std::optional<Nanos> parse_seconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t dot = text.find('.');
  const std::string_view whole_text = text.substr(0, dot);
  const std::optional<std::int64_t> whole = parse_integer(whole_text);
  if (!whole || *whole < 0 || *whole > kMaxTime / 1'000'000'000) return std::nullopt;
  Nanos nanos = *whole * 1'000'000'000;
  if (dot != std::string_view::npos) {
    Nanos unit = 100'000'000;
    for (const char c : text.substr(dot + 1)) {
      if (c < '0' || c > '9') return std::nullopt;
      nanos += unit * (c - '0');
      unit /= 10;
    }
  }
  return negative ? -nanos : nanos;
}

}  // namespace sonde
