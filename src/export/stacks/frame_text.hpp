#pragma once

#include <string>
#include <string_view>

#include "analysis/call_tree.hpp"

namespace sonde {

// "function (file:line)", "function (file)" or the name alone.
std::string frame_text(const CallFrame& frame);

// One line of printable text: line ends and other control characters become blanks.
std::string one_line(std::string_view text);

// A value with its unit, for people: "1.50 ms", "3.00 KiB", "12 samples".
std::string value_text(double value, const CallValueType& type);

bool is_time_unit(std::string_view unit);
// Nanoseconds in one of that unit; 1 for what is no time.
double nanos_per(std::string_view unit);

}  // namespace sonde
