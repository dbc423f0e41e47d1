#include "report/styles/python_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/safe_text.hpp"

namespace sonde {

std::size_t python_length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string left_justified(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t length = python_length(text);
  if (length < width) out.append(width - length, ' ');
  return out;
}

std::string right_justified(std::string_view text, std::size_t width) {
  const std::size_t length = python_length(text);
  return std::string(length < width ? width - length : 0, ' ') + std::string(text);
}

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string python_repr(double number) {
  std::string out = fmt::format("{}", number);
  if (std::isfinite(number) && out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string safe_source(std::string_view line) {
  std::string out;
  while (true) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    out += safe_text(line.substr(0, tab));
    if (tab == line.size()) return out;
    out += '\t';
    line.remove_prefix(tab + 1);
  }
}

Error nothing_to_show(const std::string& path, const std::string& what, const std::string& option) {
  Error error;
  error.code = ErrorCode::Unsupported;
  error.reason = "has no " + what;
  error.path = path;
  error.hint = "record them with: sonde run " + option + " -- python3 SCRIPT";
  return error;
}

}  // namespace sonde
