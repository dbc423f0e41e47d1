#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/flat_map.hpp"

namespace sonde {

// The input texts (shapes, types, strides, values) that an operator had when it last came, and the
// numbers under which they are interned. A training step repeats them all: comparing a text with
// the expected one is far cheaper than finding its end and its hash.
struct ExpectedInputs {
  static constexpr std::size_t kTexts = 4;
  std::array<std::string_view, kTexts> texts;
  std::array<std::uint32_t, kTexts> ids{};
  std::string_view name;  // the operator's own
  std::uint32_t name_id = 0;
};

// Guesses the inputs by the operator's name and the name of the event before it. A wrong guess
// costs a comparison and nothing else: texts are always compared in full.
class InputPredictor {
 public:
  ExpectedInputs& expect(std::string_view name) {
    const std::uint64_t here = sketch(name);
    const std::size_t at = mix_bits(here ^ (before_ << 1)) % kEntries;
    before_ = here;
    return entries_[at];
  }

  // The texts point into a string pool: forget them before it goes.
  void clear() { *this = InputPredictor(); }

 private:
  static constexpr std::size_t kEntries = 1024;

  // Length, beginning and end of the name: enough to tell operators apart.
  static std::uint64_t sketch(std::string_view name) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (name.size() >= 8) {
      std::memcpy(&first, name.data(), 8);
      std::memcpy(&last, name.data() + name.size() - 8, 8);
    } else if (!name.empty()) {
      std::memcpy(&first, name.data(), name.size());
    }
    return mix_bits(first ^ mix_bits(last + name.size()));
  }

  std::array<ExpectedInputs, kEntries> entries_{};
  std::uint64_t before_ = 0;
};

}  // namespace sonde
