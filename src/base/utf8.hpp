#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

// What stands in place of a byte that is no UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

struct CodePoint {
  std::uint32_t value = 0xFFFD;
  std::size_t bytes = 1;
  bool valid = false;
};

// The code point at the start of `text`, which is not empty. A byte that begins no valid sequence
// is one by itself, U+FFFD.
inline CodePoint decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  std::uint32_t value = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length, true};
}

bool is_utf8(std::string_view text);

// `text` with U+FFFD in place of each byte that is no UTF-8.
std::string mend_utf8(std::string_view text);

// Halves of surrogate pairs, and what is above U+10FFFF, become U+FFFD.
void append_utf8(std::uint32_t code, std::string& out);

}  // namespace sonde
