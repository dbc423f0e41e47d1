#pragma once

#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde {

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
