#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/builder.hpp"

namespace sonde {

bool is_utf8(std::string_view text);

// `text` with U+FFFD in place of each byte that is no UTF-8.
std::string mend_utf8(std::string_view text);

void append_utf8(std::uint32_t code, std::string& out);

// Text in UTF-8, whatever it was written in: a byte order mark for UTF-16 turns the rest around,
// one for UTF-8 goes. Half a character at the end is left out.
std::string to_utf8(std::string_view text);

// Whether `text` may be the start of a text file: no NUL and hardly any other control character.
bool is_plain_text(std::string_view text);

// Interns names from a file: what is no UTF-8 is mended and counted.
class NamePool {
 public:
  explicit NamePool(TraceBuilder& builder) : builder_(builder) {}
  StringId intern(std::string_view text);

 private:
  TraceBuilder& builder_;
};

}  // namespace sonde
