#include "export/text_forms.hpp"

#include <charconv>
#include <cmath>

#include "base/markup.hpp"
#include "base/utf8.hpp"

namespace sonde {
namespace {

template <class Number>
void append_number(std::string& out, Number number) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

// Calls plain(part) for runs of valid text without special characters, special(c) for ASCII
// characters that `is_special` names, and bad() for each byte that is no UTF-8.
template <class IsSpecial, class Plain, class Special, class Bad>
void walk(std::string_view text, IsSpecial is_special, Plain plain, Special special, Bad bad) {
  std::size_t begin = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const CodePoint point = decode_utf8(text.substr(at));
    if (point.valid && !is_special(c)) {
      at += point.bytes;
      continue;
    }
    plain(text.substr(begin, at - begin));
    if (point.valid)
      special(c);
    else
      bad();
    begin = ++at;
  }
  plain(text.substr(begin));
}

// Walks over one JSON value without keeping any of it.
class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : text_(text) {}

  bool whole() { return value(0) && (space(), at_ == text_.size()); }

 private:
  static constexpr int kDeepest = 200;

  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos)
      ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ != begin;
  }
  bool number() {
    word("-");
    const std::size_t begin = at_;
    if (!digits()) return false;
    if (text_[begin] == '0' && at_ != begin + 1) return false;
    if (word(".") && !digits()) return false;
    if (word("e") || word("E")) {
      if (!word("+")) word("-");
      return digits();
    }
    return true;
  }
  bool escape() {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string::npos;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ >= text_.size() ||
          std::string_view("0123456789abcdefABCDEF").find(text_[at_]) == std::string::npos)
        return false;
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') return ++at_, true;
      if (c == '\\') {
        ++at_;
        if (!escape()) return false;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) return false;
      const CodePoint point = decode_utf8(text_.substr(at_));
      if (!point.valid) return false;
      at_ += point.bytes;
    }
    return false;
  }
  bool members(char close, bool keys, int depth) {
    if (take(close)) return true;
    do {
      if (keys && (!string() || !take(':'))) return false;
      if (!value(depth + 1)) return false;
    } while (take(','));
    return take(close);
  }
  bool value(int depth) {
    space();
    if (at_ >= text_.size() || depth > kDeepest) return false;
    switch (text_[at_]) {
      case '{':
        return ++at_, members('}', true, depth);
      case '[':
        return ++at_, members(']', false, depth);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

template <class Number>
void append_json_real(std::string& out, Number number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const std::size_t begin = out.size();
  append_number(out, number);
  // 5 would read back as a whole number.
  if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

}  // namespace

void append_integer(std::string& out, std::int64_t number) { append_number(out, number); }
void append_unsigned(std::string& out, std::uint64_t number) { append_number(out, number); }
void append_real(std::string& out, double number) { append_json_real(out, number); }
void append_real(std::string& out, float number) { append_json_real(out, number); }

void append_micros(std::string& out, Nanos nanos) {
  const bool negative = nanos < 0;
  const std::uint64_t size = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(nanos)
                                      : static_cast<std::uint64_t>(nanos);
  if (negative) out += '-';
  append_unsigned(out, size / 1000);
  const auto rest = static_cast<unsigned>(size % 1000);
  const char decimals[4] = {'.', static_cast<char>('0' + rest / 100),
                            static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
  out.append(decimals, sizeof decimals);
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  walk(
      text,
      [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7F;
      },
      [&](std::string_view part) { out += part; },
      [&](char c) {
        switch (c) {
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
          default: {
            constexpr std::string_view kDigits = "0123456789abcdef";
            out += "\\u00";
            out += kDigits[static_cast<unsigned char>(c) >> 4];
            out += kDigits[static_cast<unsigned char>(c) & 15];
          }
        }
      },
      [&] { out += kReplacementCharacter; });
  out += '"';
}

void append_xml_text(std::string& out, std::string_view text) {
  // U+FFFE and U+FFFF are valid UTF-8 but no XML.
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    const std::size_t at = text.find(none);
    if (at == std::string_view::npos) continue;
    append_xml_text(out, text.substr(0, at));
    out += kReplacementCharacter;
    append_xml_text(out, text.substr(at + none.size()));
    return;
  }
  walk(
      text,
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || !markup_entity(c).empty(); },
      [&](std::string_view part) { out += part; },
      [&](char c) {
        if (const std::string_view entity = markup_entity(c); !entity.empty()) {
          out += entity;
        } else {
          out +=
              c == '\t' || c == '\n' || c == '\r' ? std::string_view(" ") : kReplacementCharacter;
        }
      },
      [&] { out += kReplacementCharacter; });
}

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

bool is_json_value(std::string_view text) { return JsonCheck(text).whole(); }

}  // namespace sonde
