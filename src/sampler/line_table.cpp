#include "sampler/line_table.hpp"

#include <climits>

namespace sonde {
namespace {

std::uint8_t byte_at(std::string_view table, std::size_t at) {
  return static_cast<std::uint8_t>(table[at]);
}

int clamp(std::int64_t line) { return line > 0 && line <= INT_MAX ? static_cast<int>(line) : 0; }

int line_by_pairs(std::string_view table, int first_line, std::int64_t offset) {
  std::int64_t line = first_line;
  std::int64_t address = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    address += byte_at(table, at);
    if (address > offset) break;
    line += static_cast<std::int8_t>(byte_at(table, at + 1));
  }
  return clamp(line);
}

int line_by_ranges(std::string_view table, int first_line, std::int64_t offset) {
  constexpr int kNoLine = -128;
  std::int64_t line = first_line;
  std::int64_t end = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const int delta = static_cast<std::int8_t>(byte_at(table, at + 1));
    if (delta != kNoLine) line += delta;
    end += byte_at(table, at);
    if (offset < end) return delta == kNoLine ? 0 : clamp(line);
  }
  return 0;
}

// Numbers of six bits a byte, the least first; false where the table ends inside of one.
bool take_number(std::string_view table, std::size_t& at, std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; at < table.size(); shift += 6) {
    const std::uint8_t byte = byte_at(table, at++);
    if (shift < 60) out |= std::uint64_t{byte & 0x3Fu} << shift;
    if ((byte & 0x40) == 0) return true;
  }
  return false;
}

bool take_signed(std::string_view table, std::size_t& at, std::int64_t& out) {
  std::uint64_t number = 0;
  if (!take_number(table, at, number)) return false;
  const auto size = static_cast<std::int64_t>(number >> 1 & INT_MAX);
  out = (number & 1) ? -size : size;
  return true;
}

int line_by_locations(std::string_view table, int first_line, std::int64_t offset) {
  std::int64_t line = first_line;
  std::int64_t end = 0;
  std::size_t at = 0;
  while (at < table.size()) {
    const std::uint8_t head = byte_at(table, at++);
    if ((head & 0x80) == 0) return 0;  // no entry begins so
    const unsigned code = head >> 3 & 15;
    end += ((head & 7) + 1) * 2;
    std::int64_t delta = 0;
    std::uint64_t column = 0;
    bool whole = true;
    if (code == 13 || code == 14) {
      whole = take_signed(table, at, delta);
      for (int i = 0; code == 14 && whole && i < 3; ++i) whole = take_number(table, at, column);
    } else if (code >= 10 && code <= 12) {
      delta = static_cast<int>(code) - 10;
      at += 2;
    } else if (code <= 9) {
      at += 1;
    }
    if (!whole || at > table.size()) return 0;
    line += delta;
    if (offset < end) return code == 15 ? 0 : clamp(line);
  }
  return 0;
}

}  // namespace

int line_at(LineFormat format, std::string_view table, int first_line, std::int64_t offset) {
  if (offset < 0) return clamp(first_line);
  switch (format) {
    case LineFormat::AddressPairs:
      return line_by_pairs(table, first_line, offset);
    case LineFormat::Ranges:
      return line_by_ranges(table, first_line, offset);
    case LineFormat::Locations:
      return line_by_locations(table, first_line, offset);
  }
  return 0;
}

}  // namespace sonde
