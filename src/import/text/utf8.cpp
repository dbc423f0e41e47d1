#include "import/text/utf8.hpp"

namespace sonde {
namespace {

std::uint32_t unit_at(std::string_view text, std::size_t at, bool big_endian) {
  const auto first = static_cast<unsigned char>(text[at]);
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return big_endian ? first << 8u | second : second << 8u | first;
}

}  // namespace

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
