#include "analysis/json_list.hpp"

#include <charconv>
#include <cstddef>

namespace sonde {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

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
  text = trim(text);
  return text.size() >= 2 && text.front() == '[' && text.back() == ']';
}

std::vector<std::string_view> json_array_items(std::string_view text) {
  std::vector<std::string_view> items;
  if (!is_json_array(text)) return items;
  text = trim(text);
  text = text.substr(1, text.size() - 2);
  if (trim(text).empty()) return items;
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
      items.push_back(trim(text.substr(begin, at - begin)));
      begin = at + 1;
    }
    ++at;
  }
  items.push_back(trim(text.substr(begin)));
  return items;
}

std::string_view json_string_content(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trim(text);
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
