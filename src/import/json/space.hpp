#pragma once

#include <cstddef>
#include <string_view>

namespace sonde {

// The white space of JSON.
inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The first place from `i` on that is none.
inline std::size_t skip_space(std::string_view text, std::size_t i) {
  while (i < text.size() && is_space(text[i])) ++i;
  return i;
}

}  // namespace sonde
