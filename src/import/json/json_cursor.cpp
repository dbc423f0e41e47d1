#include "import/json/json_cursor.hpp"

#include <cmath>

#include "base/utf8.hpp"

namespace sonde {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool four_hex(std::string_view text, std::uint32_t& out) {
  if (text.size() < 4) return false;
  out = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(text[static_cast<std::size_t>(i)]);
    if (digit < 0) return false;
    out = out * 16 + static_cast<std::uint32_t>(digit);
  }
  return true;
}

// Takes the four hex digits behind \u, and a second half where there is one.
std::size_t append_unicode_escape(std::string_view digits, std::string& out) {
  std::uint32_t code = 0;
  if (!four_hex(digits, code)) {
    out += "\\u";
    return 0;
  }
  std::size_t taken = 4;
  if (code >= 0xD800 && code < 0xDC00 && digits.substr(4, 2) == "\\u") {
    std::uint32_t low = 0;
    if (four_hex(digits.substr(6), low) && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      taken = 10;
    }
  }
  append_utf8(code, out);
  return taken;
}

}  // namespace

void unescape_json(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    switch (raw[++i]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        i += append_unicode_escape(raw.substr(i + 1), out);
        break;
      case '"':
      case '\\':
      case '/':
        out += raw[i];
        break;
      default:
        out += '\\';
        out += raw[i];
    }
  }
}

bool micros_to_nanos(std::string_view text, std::int64_t& nanos) {
  constexpr std::int64_t kMaxMicros = 4'000'000'000'000'000;
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p < end && *p == '-';
  if (negative) ++p;
  const char* const first = p;
  std::int64_t whole = 0;
  while (p < end && static_cast<unsigned char>(*p - '0') < 10) {
    if (whole > kMaxMicros / 10) return false;
    whole = whole * 10 + (*p - '0');
    ++p;
  }
  if (p == first || whole > kMaxMicros) return false;
  std::int64_t result = whole * 1000;
  if (p < end && *p == '.') {
    ++p;
    std::int64_t scale = 100;
    for (; p < end && scale > 0 && static_cast<unsigned char>(*p - '0') < 10; ++p, scale /= 10) {
      result += (*p - '0') * scale;
    }
    if (p < end && *p >= '5' && *p <= '9') ++result;
    while (p < end && static_cast<unsigned char>(*p - '0') < 10) ++p;
  }
  if (p < end) {  // an exponent
    double value = 0;
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(std::fabs(value) < double(kMaxMicros)))
      return false;
    nanos = static_cast<std::int64_t>(std::llround(value * 1000));
    return true;
  }
  nanos = negative ? -result : result;
  return true;
}

}  // namespace sonde
