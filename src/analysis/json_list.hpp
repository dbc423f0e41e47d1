#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde {

// Looks into the JSON text of an operator's inputs without building a document from it. All results
// are views into `text`; what is not well-formed gives fewer items, never an error.

bool is_json_array(std::string_view text);

// The text of each item of an array, blanks around it removed: "[[1, 2], \"a\"]" -> "[1, 2]",
// "\"a\"". Nothing where `text` is no array.
std::vector<std::string_view> json_array_items(std::string_view text);

// A string without its quotes, escapes as they stand; other values as they are.
std::string_view json_string_content(std::string_view text);

// A whole number with nothing around it but blanks.
std::optional<std::int64_t> parse_integer(std::string_view text);

// "[1, -2]" -> {1, -2}; nothing where `text` is no array or any item is no whole number.
std::optional<std::vector<std::int64_t>> parse_integers(std::string_view text);

}  // namespace sonde
