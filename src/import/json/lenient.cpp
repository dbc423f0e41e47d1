#include "import/json/lenient.hpp"

#include <algorithm>
#include <array>

#include "import/json/space.hpp"

namespace sonde {
namespace {

constexpr std::array<std::string_view, 16> kEventKeys = {
    "ph", "cat", "name", "pid", "tid",   "ts", "dur", "args",
    "id", "s",   "bp",   "tts", "cname", "sf", "id2", "tdur"};

// Whether a quoted event key and its colon stand at `i`.
bool event_key_at(std::string_view text, std::size_t i) {
  if (i >= text.size() || text[i] != '"') return false;
  for (const std::string_view key : kEventKeys) {
    if (text.substr(i + 1, key.size()) != key) continue;
    std::size_t j = i + 1 + key.size();
    if (j < text.size() && text[j] == '"') {
      j = skip_space(text, j + 1);
      if (j < text.size() && text[j] == ':') return true;
    }
  }
  return false;
}

// For a "{" at `brace`: the place behind the "}" of the event before it, or npos.
std::size_t boundary_before(std::string_view text, std::size_t brace) {
  if (!event_key_at(text, skip_space(text, brace + 1))) return std::string_view::npos;
  std::size_t i = brace;
  while (i > 0 && is_space(text[i - 1])) --i;
  if (i == 0 || text[i - 1] != ',') return std::string_view::npos;
  --i;
  while (i > 0 && is_space(text[i - 1])) --i;
  return i > 0 && text[i - 1] == '}' ? i : std::string_view::npos;
}

// Whether a value string may end with the quote at `i`, by what follows. In an event's own object
// only a key that events have may follow; in args any short key may.
bool closes_value(std::string_view text, std::size_t i, int depth) {
  std::size_t j = skip_space(text, i + 1);
  if (j >= text.size()) return true;
  if (text[j] == '}') {
    j = skip_space(text, j + 1);
    if (j >= text.size()) return true;
    if (text[j] == '}') return skip_space(text, j + 1) >= text.size();
    return text[j] == ',' && event_key_at(text, skip_space(text, j + 1));
  }
  if (text[j] == ']') return depth > 2;
  if (text[j] != ',') return false;
  j = skip_space(text, j + 1);
  if (event_key_at(text, j)) return true;
  if (depth == 1 || j >= text.size() || text[j] != '"') return false;
  const std::size_t end = text.find('"', j + 1);
  if (end == std::string_view::npos || end - j > 48) return false;
  const std::size_t colon = skip_space(text, end + 1);
  return colon < text.size() && text[colon] == ':';
}

}  // namespace

std::size_t last_event_boundary(std::string_view text) {
  for (std::size_t brace = text.rfind('{'); brace != std::string_view::npos && brace > 0;
       brace = text.rfind('{', brace - 1)) {
    const std::size_t end = boundary_before(text, brace);
    if (end != std::string_view::npos) return end;
  }
  return std::string_view::npos;
}

EventEnd end_of_last_event(std::string_view text) {
  for (std::size_t bracket = text.find(']'); bracket != std::string_view::npos;
       bracket = text.find(']', bracket + 1)) {
    std::size_t end = bracket;
    while (end > 0 && is_space(text[end - 1])) --end;
    if (end == 0 || text[end - 1] != '}') continue;
    std::size_t i = skip_space(text, bracket + 1);
    if (i >= text.size() || text[i] == '}') return {end, false};
    if (text[i] != ',') continue;
    i = skip_space(text, i + 1);
    if (i < text.size() && text[i] == '"') return {end, true};
  }
  return {};
}

std::size_t next_event_start(std::string_view text) {
  for (std::size_t brace = text.find('{'); brace != std::string_view::npos;
       brace = text.find('{', brace + 1)) {
    std::size_t i = brace;
    while (i > 0 && is_space(text[i - 1])) --i;
    if (i > 0 && text[i - 1] == ',' && event_key_at(text, skip_space(text, brace + 1)))
      return brace;
  }
  return std::string_view::npos;
}

std::size_t plain_value_end(std::string_view text) {
  std::size_t i = 0;
  if (!text.empty() && text[0] == '"') {
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
    ++i;
  } else {
    const auto in_word = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '-' || c == '+' || c == '.';
    };
    while (i < text.size() && in_word(text[i])) ++i;
    if (i == 0) return std::string_view::npos;
  }
  while (i < text.size() && is_space(text[i])) ++i;
  if (i >= text.size()) return std::string_view::npos;
  std::size_t next = i + 1;
  while (next < text.size() && is_space(text[next])) ++next;
  const char after = next < text.size() ? text[next] : '\0';
  if (text[i] == ',' && after != ':') return i;
  const bool ends_list = text[i] == ']' && (after == '\0' || after == ',' || after == '}');
  return ends_list ? i : std::string_view::npos;
}

std::vector<std::string_view> split_leniently(std::string_view text) {
  std::vector<std::string_view> events;
  std::size_t begin = 0;
  for (std::size_t brace = text.find('{', 1); brace != std::string_view::npos;
       brace = text.find('{', brace + 1)) {
    const std::size_t end = boundary_before(text, brace);
    if (end == std::string_view::npos || end <= begin) continue;
    events.push_back(text.substr(begin, end - begin));
    begin = brace;
  }
  events.push_back(text.substr(begin));
  return events;
}

void mend_quotes(std::string_view event, std::string& out) {
  out.clear();
  out.reserve(event.size() + 16);
  int depth = 0;
  int list_depth = 0;
  bool value_next = false;
  for (std::size_t i = 0; i < event.size(); ++i) {
    const char c = event[i];
    if (c != '"') {
      if (c == '{') ++depth;
      if (c == '}') --depth;
      if (c == '[') ++list_depth;
      if (c == ']') list_depth = std::max(0, list_depth - 1);
      if (c == ':') value_next = true;
      if ((c == ',' || c == '{') && list_depth == 0) value_next = false;
      out += c;
      continue;
    }
    const bool is_value = value_next || list_depth > 0;
    out += '"';
    for (++i; i < event.size(); ++i) {
      if (event[i] == '\\' && i + 1 < event.size()) {
        out += event[i];
        out += event[++i];
        continue;
      }
      if (event[i] == '"') {
        if (!is_value) break;
        if (list_depth > 0) {
          const std::size_t j = skip_space(event, i + 1);
          if (j >= event.size() || event[j] == ',' || event[j] == ']') break;
        } else if (closes_value(event, i, depth)) {
          break;
        }
        out += '\\';
      }
      out += event[i];
    }
    if (i < event.size()) out += '"';
    if (list_depth == 0) value_next = false;
  }
}

}  // namespace sonde
