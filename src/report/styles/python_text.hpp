#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sonde {

// Text as Python's tools lay it out: widths count code points.

std::size_t python_length(std::string_view text);
// Padded with blanks to `width`, on its right or on its left.
std::string left_justified(std::string_view text, std::size_t width);
std::string right_justified(std::string_view text, std::size_t width);
// repr() of a text and of a float.
std::string python_repr(std::string_view text);
std::string python_repr(double number);

// A line of source, made safe to print; tabs stay as they are, blanks at the end go if wanted.
std::string safe_source(std::string_view line);

// What a style says about a trace that has nothing for it: what is missing and how to record it.
Error nothing_to_show(const std::string& path, const std::string& what, const std::string& option);

}  // namespace sonde
