#include "export/stacks/frame_text.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"

namespace sonde {

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return out;
}

std::string frame_text(const CallFrame& frame) {
  std::string out = one_line(frame.name.empty() ? "(unnamed)" : frame.name);
  if (frame.file.empty() || frame.file == "~") return out;
  out += " (" + one_line(frame.file);
  if (frame.line > 0) out += ":" + std::to_string(frame.line);
  return out + ")";
}

double nanos_per(std::string_view unit) {
  if (unit == "us" || unit == "microseconds") return 1e3;
  if (unit == "ms" || unit == "milliseconds") return 1e6;
  if (unit == "s" || unit == "seconds") return 1e9;
  return 1;
}

bool is_time_unit(std::string_view unit) {
  return unit == "ns" || unit == "nanoseconds" || nanos_per(unit) != 1;
}

std::string value_text(double value, const CallValueType& type) {
  if (is_time_unit(type.unit)) return format_duration(value * nanos_per(type.unit));
  if (type.unit == "bytes") return format_bytes(value);
  const std::string number = std::fabs(value) < 9e15 && value == std::floor(value)
                                 ? format_count(static_cast<std::int64_t>(value))
                                 : format_real(value);
  return number + " " + (type.name.empty() ? "samples" : one_line(type.name));
}

}  // namespace sonde
