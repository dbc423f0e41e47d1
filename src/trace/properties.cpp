#include "trace/properties.hpp"

#include <algorithm>
#include <cstdint>

#include "base/utf8.hpp"

namespace sonde {
namespace {

// The four digits behind "\u" at `at`; what is no digit counts as 0.
std::uint32_t hex_at(std::string_view text, std::size_t at) {
  std::uint32_t code = 0;
  for (std::size_t i = at; i < at + 4 && i < text.size(); ++i) {
    const char c = text[i];
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') digit = static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<std::uint32_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<std::uint32_t>(c - 'A') + 10;
    code = code * 16 + digit;
  }
  return code;
}

std::string unquoted(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return std::string(json);
  const std::string_view text = json.substr(1, json.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u': {
        std::uint32_t code = hex_at(text, i + 1);
        i += 4;
        const bool high = code >= 0xD800 && code < 0xDC00;
        if (high && text.substr(std::min(i + 1, text.size())).starts_with("\\u")) {
          code = 0x10000 + ((code - 0xD800) << 10) + ((hex_at(text, i + 3) - 0xDC00) & 0x3FF);
          i += 6;
        }
        append_utf8(code, out);
        break;
      }
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string plain_property(const TraceMeta& meta, std::string_view key) {
  for (const auto& [name, value] : meta.properties) {
    if (name == key) return unquoted(value);
  }
  return {};
}

}  // namespace sonde
