#include "import/json/byte_masks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace sonde {
namespace {

TEST(ByteMasks, TheVectorKernelSeesWhatThePlainLoopSees) {
  std::mt19937 random(6);
  // Neighbours of the wanted characters in the code table too, and bytes with the high bit set.
  constexpr std::string_view kChars = "\"{}\\!#z|~[]^\xA2\xFB\xFD\xDC x";
  std::array<char, 64 + 16> bytes{};
  for (int round = 0; round < 20'000; ++round) {
    for (char& c : bytes) {
      c = random() % 2 == 0 ? kChars[random() % kChars.size()] : static_cast<char>(random());
    }
    const char* at = bytes.data() + random() % 16;
    const ByteMasks fast = byte_masks(at);
    const ByteMasks plain = byte_masks_plain(at);
    ASSERT_EQ(fast.quote, plain.quote);
    ASSERT_EQ(fast.brace, plain.brace);
    ASSERT_EQ(fast.has_backslash, plain.has_backslash);
    ASSERT_EQ(backslash_mask(at) != 0, plain.has_backslash);
  }
}

TEST(ByteMasks, ASingleBackslashIsSeenAtEveryPlace) {
  for (std::size_t i = 0; i < 64; ++i) {
    std::array<char, 64> bytes{};
    bytes[i] = '\\';
    ASSERT_TRUE(byte_masks(bytes.data()).has_backslash) << i;
    ASSERT_EQ(backslash_mask(bytes.data()), std::uint64_t{1} << i);
  }
}

TEST(ByteMasks, PrefixXorIsTheParityOfTheBitsUpToEachPlace) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1'000; ++round) {
    const std::uint64_t bits = random() & random();
    std::uint64_t expected = 0;
    bool inside = false;
    for (int i = 0; i < 64; ++i) {
      if (bits >> i & 1) inside = !inside;
      if (inside) expected |= std::uint64_t{1} << i;
    }
    ASSERT_EQ(prefix_xor(bits), expected);
  }
}

}  // namespace
}  // namespace sonde
