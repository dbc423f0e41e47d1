#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

// Names in a trace come from anywhere. The functions here make them safe to print and measure them
// without the help of the locale.

// `text` on one line of valid UTF-8 without control characters: line breaks and tabs become a
// blank, other controls, marks that change the writing direction and invalid bytes become U+FFFD.
// Thus no name can move the cursor, recolour the terminal or begin a row of its own.
std::string safe_text(std::string_view text);

// Columns that a safe text takes on a terminal.
std::size_t display_width(std::string_view text);

enum class Cut { End, Middle };

// A safe text cut to at most `width` columns, with `ellipsis` in place of what went.
std::string shorten(std::string_view text, std::size_t width, Cut cut, std::string_view ellipsis);

}  // namespace sonde
