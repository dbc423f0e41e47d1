#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace sonde {

// Where in 64 bytes the characters lie that the shape of JSON hangs on; bit i is byte i.
struct ByteMasks {
  std::uint64_t quote = 0;
  std::uint64_t brace = 0;  // { and }
  bool has_backslash = false;
};

inline ByteMasks byte_masks_plain(const char* p) {
  ByteMasks m;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (p[i] == '"') m.quote |= bit;
    if (p[i] == '{' || p[i] == '}') m.brace |= bit;
    if (p[i] == '\\') m.has_backslash = true;
  }
  return m;
}

// Rarely wanted: see ByteMasks::has_backslash.
inline std::uint64_t backslash_mask(const char* p) {
  std::uint64_t mask = 0;
  for (int i = 0; i < 64; ++i) {
    if (p[i] == '\\') mask |= std::uint64_t{1} << i;
  }
  return mask;
}

#if defined(__SSE2__)

inline ByteMasks byte_masks(const char* p) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  const __m128i backslash = _mm_set1_epi8('\\');
  __m128i escapes = _mm_setzero_si128();
  ByteMasks m;
  for (int i = 3; i >= 0; --i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p) + i);
    const __m128i braces = _mm_or_si128(_mm_cmpeq_epi8(v, open), _mm_cmpeq_epi8(v, close));
    m.quote =
        m.quote << 16 | static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, quote)));
    m.brace = m.brace << 16 | static_cast<std::uint32_t>(_mm_movemask_epi8(braces));
    escapes = _mm_or_si128(escapes, _mm_cmpeq_epi8(v, backslash));
  }
  m.has_backslash = _mm_movemask_epi8(escapes) != 0;
  return m;
}

#elif defined(__ARM_NEON)

inline ByteMasks byte_masks(const char* p) {
  const std::uint8_t* in = reinterpret_cast<const std::uint8_t*>(p);
  const uint8x16_t v[4] = {vld1q_u8(in), vld1q_u8(in + 16), vld1q_u8(in + 32), vld1q_u8(in + 48)};
  const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  // Pairwise sums fold the sixteen one-bit lanes of each vector into two bytes.
  const auto bits = [&](uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t low = vpaddq_u8(vandq_u8(a, weight), vandq_u8(b, weight));
    const uint8x16_t high = vpaddq_u8(vandq_u8(c, weight), vandq_u8(d, weight));
    uint8x16_t sum = vpaddq_u8(low, high);
    sum = vpaddq_u8(sum, sum);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sum), 0);
  };
  const auto equal = [&](int i, char c) {
    return vceqq_u8(v[i], vdupq_n_u8(static_cast<std::uint8_t>(c)));
  };
  const auto brace = [&](int i) { return vorrq_u8(equal(i, '{'), equal(i, '}')); };
  const uint8x16_t escapes =
      vorrq_u8(vorrq_u8(equal(0, '\\'), equal(1, '\\')), vorrq_u8(equal(2, '\\'), equal(3, '\\')));
  return {bits(equal(0, '"'), equal(1, '"'), equal(2, '"'), equal(3, '"')),
          bits(brace(0), brace(1), brace(2), brace(3)), vmaxvq_u8(escapes) != 0};
}

#else

inline ByteMasks byte_masks(const char* p) { return byte_masks_plain(p); }

#endif

// Bit i: byte i is escaped by a backslash before it. `carry` runs over from word to word.
inline std::uint64_t escaped_bytes(std::uint64_t backslashes, bool& carry) {
  if (backslashes == 0 && !carry) return 0;
  std::uint64_t escaped = 0;
  if (carry) {
    escaped = 1;
    backslashes &= ~std::uint64_t{1};
    carry = false;
  }
  while (backslashes != 0) {
    const int i = std::countr_zero(backslashes);
    if (i == 63) {
      carry = true;
      break;
    }
    const std::uint64_t next = std::uint64_t{1} << (i + 1);
    escaped |= next;
    backslashes &= backslashes - 1;
    backslashes &= ~next;
  }
  return escaped;
}

// Bit i is the parity of bits 0 … i: with quotes as input, set from each opening quote up to, not
// including, its closing one.
inline std::uint64_t prefix_xor(std::uint64_t bits) {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  bits ^= bits << 32;
  return bits;
}

}  // namespace sonde
