#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace sonde {

// A string of the file between its quotes, not yet unescaped.
struct RawString {
  std::string_view text;
  bool has_escapes = false;
};

// Walks over the text of one event. Every function leaves the cursor behind what it took and
// returns false, for good, at the first thing that does not fit. Raw control characters in
// strings and bare words such as N/A, NaN or inf in the place of numbers are let through: old
// writers produced them.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return p_ >= end_; }
  const char* position() const { return p_; }

  // Every character from 1 to 32 counts as space: one comparison, and stray control characters
  // between values do no harm.
  void skip_space() {
    while (p_ < end_ && static_cast<unsigned char>(*p_ - 1) < 32) ++p_;
  }

  char peek() {
    skip_space();
    return p_ < end_ ? *p_ : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }

  bool string(RawString& out) {
    if (!take('"')) return false;
    const char* const begin = p_;
    out.has_escapes = false;
    for (;;) {
      p_ = find_quote_or_backslash(p_, end_);
      if (p_ >= end_) return false;
      if (*p_ == '"') break;
      out.has_escapes = true;
      p_ += 2;
      if (p_ > end_) return false;
    }
    out.text = {begin, static_cast<std::size_t>(p_ - begin)};
    ++p_;
    return true;
  }

  // The name of the next member and its colon.
  bool key(std::string_view& out) {
    RawString raw;
    if (!string(raw) || !take(':')) return false;
    out = raw.text;
    return true;
  }

  // A value of any type as the text that stands in the file.
  bool raw_value(std::string_view& out) {
    peek();
    const char* const begin = p_;
    if (!skip_value()) return false;
    out = {begin, static_cast<std::size_t>(p_ - begin)};
    return true;
  }

  // Takes `value`, the text of a whole list or object, where it stands next.
  bool take_exactly(std::string_view value) {
    peek();
    if (value.empty() || static_cast<std::size_t>(end_ - p_) < value.size() ||
        std::memcmp(p_, value.data(), value.size()) != 0) {
      return false;
    }
    p_ += value.size();
    return true;
  }

  bool skip_value() {
    switch (peek()) {
      case '"': {
        RawString ignored;
        return string(ignored);
      }
      case '{':
      case '[':
        return skip_nested();
      case '\0':
        return false;
      default:
        return skip_bare() > 0;
    }
  }

  // A bare word or number up to the next "," "}" "]" ":" quote or space; its length.
  std::size_t skip_bare() {
    const char* const begin = p_;
    while (p_ < end_ && !kEndsBareWord[static_cast<unsigned char>(*p_)]) ++p_;
    return static_cast<std::size_t>(p_ - begin);
  }

  // A number's text, also where it stands in quotes. Empty for null and for other types (which
  // are passed over).
  bool number_text(std::string_view& out, bool& quoted) {
    quoted = false;
    const char c = peek();
    if (c == '"') {
      RawString raw;
      if (!string(raw)) return false;
      quoted = true;
      out = raw.text;
      return true;
    }
    if (c == '{' || c == '[') {
      out = {};
      return skip_nested();
    }
    const char* const begin = p_;
    const std::size_t length = skip_bare();
    if (length == 0) return false;
    out = {begin, length};
    if (out == "null") out = {};
    return true;
  }

  // Microseconds as writers put them, "123" or "123.456", in nanoseconds. False, and nothing taken,
  // for everything else.
  bool plain_micros(std::int64_t& nanos) {
    peek();
    const char* digit = p_;
    std::uint64_t value = 0;
    if (end_ - digit >= 16 && eight_digits(digit, value)) digit += 8;
    while (digit < end_ && static_cast<unsigned char>(*digit - '0') < 10) {
      value = value * 10 + static_cast<std::uint64_t>(*digit - '0');
      ++digit;
    }
    if (digit == p_ || digit - p_ > 15) {
      if (digit - p_ != 16 || value > UINT64_C(4'000'000'000'000'000)) return false;
    }
    value *= 1000;
    if (digit + 3 < end_ && *digit == '.') {
      const auto tenths = static_cast<unsigned char>(digit[1] - '0');
      const auto hundredths = static_cast<unsigned char>(digit[2] - '0');
      const auto thousandths = static_cast<unsigned char>(digit[3] - '0');
      if (tenths > 9 || hundredths > 9 || thousandths > 9) return false;
      value += tenths * 100u + hundredths * 10u + thousandths;
      digit += 4;
    }
    if (digit >= end_ || (*digit != ',' && *digit != '}' && *digit != ' ' && *digit != '\n'))
      return false;
    nanos = static_cast<std::int64_t>(value);
    p_ = digit;
    return true;
  }

  // The usual whole number; anything else leaves `out` as it is.
  bool integer(std::int64_t& out) {
    peek();
    const char* digit = p_;
    const bool negative = digit < end_ && *digit == '-';
    if (negative) ++digit;
    const char* const first = digit;
    std::uint64_t value = 0;
    while (digit < end_ && static_cast<unsigned char>(*digit - '0') < 10) {
      value = value * 10 + static_cast<std::uint64_t>(*digit - '0');
      ++digit;
    }
    if (digit > first && digit - first <= 18 && digit < end_ &&
        (*digit == ',' || *digit == '}' || *digit == ' ' || *digit == '\n' || *digit == ']')) {
      out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
      p_ = digit;
      return true;
    }
    return odd_integer(out);
  }

  // A finite number; anything else leaves `out` as it is.
  bool real(double& out) {
    std::string_view text;
    bool quoted = false;
    if (!number_text(text, quoted)) return false;
    double value = 0;
    if (short_decimal(text, value)) {
      out = value;
      return true;
    }
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && at == text.data() + text.size() && std::isfinite(value))
      out = value;
    return true;
  }

 private:
  // The value of eight digits at once; false where one of them is none.
  static bool eight_digits(const char* p, std::uint64_t& value) {
    if constexpr (std::endian::native != std::endian::little) return false;
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    constexpr std::uint64_t kHigh = 0xF0F0F0F0F0F0F0F0;
    constexpr std::uint64_t kZeros = 0x3030303030303030;
    if ((v & kHigh) != kZeros || ((v + 0x0606060606060606) & kHigh) != kZeros) return false;
    v -= kZeros;
    v = v * 10 + (v >> 8);  // pairs of digits, in every second byte
    value = ((v & 0x000000FF000000FF) * 0x000F424000000064 +
             ((v >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
            32;
    return true;
  }

  // "12" or "0.121212", at most 15 digits: the quotient of two numbers that a double holds exactly
  // is the nearest double, as from_chars would find it.
  static bool short_decimal(std::string_view text, double& out) {
    constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (text.empty() || text.size() > 16 || text[0] == '.' || text.back() == '.') return false;
    std::uint64_t value = 0;
    std::size_t point = text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto digit = static_cast<unsigned char>(text[i] - '0');
      if (digit < 10) {
        value = value * 10 + digit;
      } else if (text[i] == '.' && point == text.size()) {
        point = i;
      } else {
        return false;
      }
    }
    const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
    if (point == text.size() && text.size() > 15) return false;
    out = static_cast<double>(value) / kPowers[decimals];
    return true;
  }

  static const char* find_quote_or_backslash(const char* p, const char* end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    for (; p + 16 <= end; p += 16) {
      const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      const int mask =
          _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)));
      if (mask != 0) return p + std::countr_zero(static_cast<unsigned>(mask));
    }
#elif defined(__ARM_NEON)
    const uint8x16_t quote = vdupq_n_u8('"');
    const uint8x16_t backslash = vdupq_n_u8('\\');
    for (; p + 16 <= end; p += 16) {
      const uint8x16_t v = vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
      const uint8x16_t hit = vorrq_u8(vceqq_u8(v, quote), vceqq_u8(v, backslash));
      const std::uint64_t mask =
          vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);
      if (mask != 0) return p + std::countr_zero(mask) / 4;
    }
#endif
    while (p < end && *p != '"' && *p != '\\') ++p;
    return p;
  }

  static constexpr std::array<bool, 256> kEndsBareWord = [] {
    std::array<bool, 256> ends{};
    for (std::size_t c = 0; c <= 32; ++c) ends[c] = true;
    for (const char c : {',', '}', ']', ':', '"'}) ends[static_cast<unsigned char>(c)] = true;
    return ends;
  }();

  // Sixteen bytes at a time: kMaskBits bits for each byte, set where it opens or closes something.
#if defined(__SSE2__)
  static constexpr int kMaskBits = 1;
  static std::uint64_t nesting_mask(const char* p) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));  // [ and { are one, ] and } too
    const __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                                  _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))),
                                     _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(hit));
  }
#elif defined(__ARM_NEON)
  static constexpr int kMaskBits = 4;
  static std::uint64_t nesting_mask(const char* p) {
    const uint8x16_t v = vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
    const uint8x16_t folded = vorrq_u8(v, vdupq_n_u8(0x20));
    const uint8x16_t hit =
        vorrq_u8(vorrq_u8(vceqq_u8(folded, vdupq_n_u8('{')), vceqq_u8(folded, vdupq_n_u8('}'))),
                 vceqq_u8(v, vdupq_n_u8('"')));
    // One set bit of each group of four stands for the byte.
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0) &
           UINT64_C(0x1111111111111111);
  }
#else
  static constexpr int kMaskBits = 1;
  static std::uint64_t nesting_mask(const char* p) {
    std::uint64_t mask = 0;
    for (int i = 0; i < 16; ++i) {
      const int folded = p[i] | 0x20;
      if (folded == '{' || folded == '}' || p[i] == '"') mask |= std::uint64_t{1} << i;
    }
    return mask;
  }
#endif

  // An object or a list, up to and with the bracket that closes it.
  bool skip_nested() {
    int depth = 0;
    while (p_ + 16 <= end_) {
      const char* const word = p_;
      p_ += 16;
      for (std::uint64_t mask = nesting_mask(word); mask != 0; mask &= mask - 1) {
        const char* const at = word + std::countr_zero(mask) / kMaskBits;
        if (*at == '"') {
          p_ = at;
          RawString ignored;
          if (!string(ignored)) return false;
          break;  // go on behind the string
        }
        if ((*at | 0x20) == '{') {
          ++depth;
        } else if (--depth == 0) {
          p_ = at + 1;
          return true;
        }
      }
    }
    for (; p_ < end_; ++p_) {
      const char c = *p_;
      if (c == '"') {
        RawString ignored;
        if (!string(ignored)) return false;
        --p_;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        ++p_;
        return true;
      }
    }
    return false;
  }

  bool odd_integer(std::int64_t& out) {
    std::string_view text;
    bool quoted = false;
    if (!number_text(text, quoted)) return false;
    std::int64_t whole = 0;
    const char* const last = text.data() + text.size();
    const auto as_integer = std::from_chars(text.data(), last, whole);
    if (as_integer.ec == std::errc() && as_integer.ptr == last && !text.empty()) {
      out = whole;
      return true;
    }
    std::uint64_t large = 0;  // addresses go up to 2^64 - 1
    const auto as_unsigned = std::from_chars(text.data(), last, large);
    if (as_unsigned.ec == std::errc() && as_unsigned.ptr == last && !text.empty()) {
      out = static_cast<std::int64_t>(large);
      return true;
    }
    double value = 0;
    const auto as_real = std::from_chars(text.data(), last, value);
    if (as_real.ec == std::errc() && as_real.ptr == last && !text.empty() && value > -9e18 &&
        value < 9e18) {
      out = static_cast<std::int64_t>(value);
    }
    return true;
  }

  const char* p_;
  const char* end_;
};

// The text of a JSON string: escapes resolved, broken ones kept as they stand.
void unescape_json(std::string_view raw, std::string& out);

// Decimal microseconds as whole nanoseconds, exactly; more than three decimals are rounded. False
// for what is no finite number or lies beyond 126 years, so that the difference of two times and a
// duration on top always fit.
bool micros_to_nanos(std::string_view text, std::int64_t& nanos);

}  // namespace sonde
