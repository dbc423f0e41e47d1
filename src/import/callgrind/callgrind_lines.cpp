#include "import/callgrind/callgrind_lines.hpp"

#include <algorithm>
#include <charconv>

namespace sonde {

std::string_view next_word(std::string_view& text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

NameTable::Found NameTable::resolve(std::string_view text, std::string& out) {
  if (!text.starts_with('(')) {
    out = text;
    return Found::Name;
  }
  const std::size_t end = text.find(')');
  std::uint64_t number = 0;
  const char* begin = text.data() + 1;
  if (end == std::string_view::npos || end == 1 ||
      std::from_chars(begin, text.data() + end, number).ptr != text.data() + end) {
    out = text;
    return Found::Name;
  }
  std::string_view name = text.substr(end + 1);
  name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
  const auto known = names_.find(number);
  if (name.empty()) {
    if (known == names_.end()) return Found::Unknown;
    out = known->second;
    return Found::Name;
  }
  out = name;
  if (known == names_.end()) {
    names_.emplace(number, out);
    return Found::Name;
  }
  if (known->second == name) return Found::Name;
  known->second = out;
  return Found::Changed;
}

std::optional<std::int64_t> parse_cost_number(std::string_view word) {
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  std::uint64_t out = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, out, hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc() || parsed.ptr != end || out > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(out);
}

void CostParser::set_positions(std::string_view names) {
  previous_.clear();
  has_line_ = false;
  constexpr std::size_t kMaxPositions = 8;
  for (std::string_view name = next_word(names); !name.empty() && previous_.size() < kMaxPositions;
       name = next_word(names)) {
    if (name == "line") {
      line_column_ = previous_.size();
      has_line_ = true;
    }
    previous_.push_back(0);
  }
  if (previous_.empty()) {
    previous_.push_back(0);
    line_column_ = 0;
    has_line_ = true;
  }
}

void CostParser::reset() { std::fill(previous_.begin(), previous_.end(), 0); }

bool CostParser::parse_position(std::string_view word, std::size_t column, std::int64_t& out) {
  std::int64_t& previous = previous_[column];
  if (word == "*") {
    out = previous;
    return true;
  }
  const char sign = word.empty() ? '\0' : word[0];
  if (sign == '+' || sign == '-') word.remove_prefix(1);
  // A range of positions: the first one counts.
  const std::size_t range = word.find_first_of("+-:", 1);
  const std::optional<std::int64_t> number = parse_cost_number(word.substr(0, range));
  if (!number) return false;
  std::int64_t position = *number;
  if (sign == '+' && __builtin_add_overflow(previous, *number, &position)) return false;
  if (sign == '-' && __builtin_sub_overflow(previous, *number, &position)) return false;
  previous = out = position;
  return true;
}

bool CostParser::parse(std::string_view text, std::size_t events, CostLine& out) {
  out.line = 0;
  out.costs.clear();
  for (std::size_t i = 0; i < previous_.size(); ++i) {
    std::int64_t position = 0;
    if (!parse_position(next_word(text), i, position)) return false;
    if (has_line_ && i == line_column_) out.line = position;
  }
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    const std::optional<std::int64_t> cost = parse_cost_number(word);
    if (!cost || out.costs.size() >= events) return false;
    out.costs.push_back(*cost);
  }
  out.costs.resize(events);
  return true;
}

}  // namespace sonde
