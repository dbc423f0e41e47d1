#include "analysis/json_list.hpp"

#include <charconv>
#include <cstddef>

#include "base/trim.hpp"

namespace sonde {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// The index behind the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

bool is_json_array(std::string_view text) {
  text = trim(text, kBlanks);
  return text.size() >= 2 && text.front() == '[' && text.back() == ']';
}

std::vector<std::string_view> json_array_items(std::string_view text) {
  std::vector<std::string_view> items;
  if (!is_json_array(text)) return items;
  text = trim(text, kBlanks);
  text = text.substr(1, text.size() - 2);
  if (trim(text, kBlanks).empty()) return items;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      items.push_back(trim(text.substr(begin, at - begin), kBlanks));
      begin = at + 1;
    }
    ++at;
  }
  items.push_back(trim(text.substr(begin), kBlanks));
  return items;
}

std::string_view json_string_content(std::string_view text) {
  text = trim(text, kBlanks);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trim(text, kBlanks);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::vector<std::int64_t>> parse_integers(std::string_view text) {
  if (!is_json_array(text)) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const std::string_view item : json_array_items(text)) {
    const std::optional<std::int64_t> number = parse_integer(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace sonde
