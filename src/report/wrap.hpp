#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

// `text` in lines of at most `width` columns, each begun by `indent` and ended by LF. A word that
// is longer than a line is broken. Empty lines in `text` stay: they part paragraphs.
std::string wrap_text(std::string_view text, std::size_t width, std::string_view indent);

}  // namespace sonde
