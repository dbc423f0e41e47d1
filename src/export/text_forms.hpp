#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace sonde {

// Numbers and texts as the formats write them. None of these looks at the locale.

void append_integer(std::string& out, std::int64_t number);
void append_unsigned(std::string& out, std::uint64_t number);

// The shortest text that reads back as the same number, as JSON has it; "null" where JSON has none.
void append_real(std::string& out, double number);
void append_real(std::string& out, float number);

// Nanoseconds as microseconds with three decimals: "12.345".
void append_micros(std::string& out, Nanos nanos);

// A JSON string with its quotes; valid UTF-8 stays as it is, other bytes become U+FFFD.
void append_json_text(std::string& out, std::string_view text);

// For XML text and attribute values. What XML cannot hold at all becomes U+FFFD.
void append_xml_text(std::string& out, std::string_view text);

// One field of a CSV file, in quotes where it needs them.
void append_csv_field(std::string& out, std::string_view text);

// Whether `text` is one whole JSON value, with nothing nested deeper than 200 levels.
bool is_json_value(std::string_view text);

}  // namespace sonde
