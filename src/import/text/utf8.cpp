#include "import/text/utf8.hpp"

#include <simdjson.h>

#include <algorithm>

namespace sonde {
namespace {

// The length of the valid UTF-8 sequence at the start of `text`, 0 where there is none.
std::size_t sequence_length(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    if (simdjson::validate_utf8(text.data(), length)) return length;
  }
  return 0;
}

std::uint32_t unit_at(std::string_view text, std::size_t at, bool big_endian) {
  const auto first = static_cast<unsigned char>(text[at]);
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return big_endian ? first << 8u | second : second << 8u | first;
}

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string mend_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0)
      out += "\xEF\xBF\xBD";
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string to_utf8(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) return std::string(text.substr(3));
  const bool big_endian = text.starts_with("\xFE\xFF");
  if (!big_endian && !text.starts_with("\xFF\xFE")) return std::string(text);
  text.remove_prefix(2);
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint32_t code = unit_at(text, i, big_endian);
    if (code >= 0xD800 && code < 0xE000) {
      if (i + 3 >= text.size()) break;
      const std::uint32_t low = unit_at(text, i + 2, big_endian);
      const bool pair = code < 0xDC00 && low >= 0xDC00 && low < 0xE000;
      code = pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
      if (pair) i += 2;
    }
    append_utf8(code, out);
  }
  return out;
}

bool is_plain_text(std::string_view text) {
  std::size_t controls = 0;
  for (const char c : text) {
    if (c == '\0') return false;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F) ++controls;
  }
  return controls * 100 <= text.size();
}

StringId NamePool::intern(std::string_view text) {
  if (is_utf8(text)) return builder_.intern(text);
  builder_.losses().add("invalid_utf8", Severity::Warning,
                        "Texts with bytes that are no UTF-8; they are shown as U+FFFD.");
  return builder_.intern(mend_utf8(text));
}

}  // namespace sonde
