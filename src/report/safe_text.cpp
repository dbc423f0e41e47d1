#include "report/safe_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/utf8.hpp"

namespace sonde {
namespace {

bool is_break(std::uint32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || c == 0x0B || c == 0x0C || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

bool is_harmful(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  // Direction marks, overrides and isolates; invisible joiners; byte order mark; tags.
  return (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0x061C || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE007F);
}

using Range = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::array<Range, 7> kCombining = {{{0x0300, 0x036F},
                                              {0x0483, 0x0489},
                                              {0x0591, 0x05BD},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F}}};

constexpr std::array<Range, 9> kWide = {{{0x1100, 0x115F},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0x1F300, 0x1FAFF},
                                         {0x20000, 0x3FFFD}}};

template <std::size_t kCount>
bool within(std::uint32_t c, const std::array<Range, kCount>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& r) { return c >= r.first && c <= r.second; });
}

std::size_t width_of(std::uint32_t c) {
  if (c < 0x300) return 1;
  if (within(c, kCombining)) return 0;
  return within(c, kWide) ? 2 : 1;
}

// The longest head of `text` that fits `width` columns.
std::string_view head(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    const CodePoint c = decode_utf8(text.substr(at));
    const std::size_t step = width_of(c.value);
    if (used + step > width) break;
    used += step;
    at += c.bytes;
  }
  return text.substr(0, at);
}

std::string_view tail(std::string_view text, std::size_t width) {
  std::vector<std::pair<std::size_t, std::size_t>> starts;  // byte offset, width
  std::size_t total = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text.substr(at));
    starts.emplace_back(at, width_of(c.value));
    total += starts.back().second;
    at += c.bytes;
  }
  for (const auto& [at, step] : starts) {
    if (total <= width && step > 0) return text.substr(at);
    total -= step;
  }
  return {};
}

}  // namespace

std::string safe_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text.substr(at));
    if (!c.valid) {
      out += kReplacementCharacter;
    } else if (is_break(c.value)) {
      out += ' ';
    } else if (is_harmful(c.value)) {
      out += kReplacementCharacter;
    } else {
      out += text.substr(at, c.bytes);
    }
    at += c.bytes;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text.substr(at));
    width += width_of(c.value);
    at += c.bytes;
  }
  return width;
}

std::string shorten(std::string_view text, std::size_t width, Cut cut, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const std::size_t mark = display_width(ellipsis);
  if (width <= mark) return std::string(head(ellipsis, width));
  const std::size_t room = width - mark;
  if (cut == Cut::End) return std::string(head(text, room)) + std::string(ellipsis);
  const std::size_t front = (room + 1) / 2;
  return std::string(head(text, front)) + std::string(ellipsis) +
         std::string(tail(text, room - front));
}

}  // namespace sonde
