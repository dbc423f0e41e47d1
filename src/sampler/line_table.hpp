#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

// How a version of CPython keeps the lines of its instructions.
enum class LineFormat : std::uint8_t {
  AddressPairs,  // co_lnotab, to 3.9
  Ranges,        // co_linetable of 3.10
  Locations,     // co_linetable from 3.11 on
};

// The line of the instruction at `offset` (bytes), 0 where it has none. A negative offset is a
// function that has not begun: its first line.
int line_at(LineFormat format, std::string_view table, int first_line, std::int64_t offset);

}  // namespace sonde
