#include "base/json_writer.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/utf8.hpp"

namespace sonde {
namespace {

void append_unicode_escape(std::string& out, std::uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xF];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const auto [point, bytes, valid] = decode_utf8(text.substr(at));
    at += bytes;
    switch (point) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\b':
        out += "\\b";
        break;
      default:
        if (point >= 0x20 && point < 0x80) {
          out += static_cast<char>(point);
        } else if (point < 0x10000) {
          append_unicode_escape(out, point);
        } else {
          append_unicode_escape(out, 0xD800 + ((point - 0x10000) >> 10));
          append_unicode_escape(out, 0xDC00 + ((point - 0x10000) & 0x3FF));
        }
    }
  }
  out += '"';
}

std::string python_float(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());

  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  std::string out = text.front() == '-' ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (digits.size() > 1) out += "." + digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    const int magnitude = std::abs(exponent);
    if (magnitude < 10) out += '0';
    return out + std::to_string(magnitude);
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return out + digits + std::string(whole - digits.size(), '0') + ".0";
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

double python_round(double number, int digits) {
  // Beyond these the text would be long and the number has no such digits.
  if (!std::isfinite(number) || digits > 300) return number;
  if (digits < -308) return std::copysign(0.0, number);
  if (digits < 0) {
    const double unit = std::pow(10.0, -digits);
    return std::nearbyint(number / unit) * unit;
  }
  char buffer[700];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, number);
  return std::strtod(buffer, nullptr);
}

std::int64_t python_round(double number) {
  const double rounded = std::nearbyint(number);
  if (std::isnan(rounded)) return 0;
  if (rounded >= 9223372036854775808.0) return std::numeric_limits<std::int64_t>::max();
  if (rounded < -9223372036854775808.0) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(rounded);
}

void JsonWriter::new_line() {
  if (layout_ != Layout::Indented) return;
  out_ += '\n';
  out_.append(has_items_.size() * 2, ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) {
    out_ += layout_ == Layout::OneLine ? ", " : ",";
  }
  has_items_.back() = true;
  new_line();
}

void JsonWriter::open(char bracket) {
  before_value();
  out_ += bracket;
  has_items_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool had_items = !has_items_.empty() && has_items_.back();
  if (!has_items_.empty()) has_items_.pop_back();
  if (had_items) new_line();
  out_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  before_value();
  append_json_string(out_, name);
  out_ += layout_ == Layout::Minimal ? ":" : ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  before_value();
  append_json_string(out_, text);
}

void JsonWriter::value(double number) {
  before_value();
  out_ += std::isfinite(number) ? python_float(number) : "null";
}

void JsonWriter::value(bool flag) {
  before_value();
  out_ += flag ? "true" : "false";
}

void JsonWriter::value(std::nullptr_t) {
  before_value();
  out_ += "null";
}

void JsonWriter::raw(std::string_view json) {
  before_value();
  out_ += json;
}

void JsonWriter::write_signed(std::int64_t number) {
  before_value();
  out_ += std::to_string(number);
}

void JsonWriter::write_unsigned(std::uint64_t number) {
  before_value();
  out_ += std::to_string(number);
}

}  // namespace sonde
