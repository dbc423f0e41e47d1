#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

// Writes one JSON document. The default text is that of Python's json.dumps(): ", " and ": "
// between parts, ASCII only (\uXXXX, surrogate pairs), floats in shortest form with a fraction or
// an exponent. Bytes that are no UTF-8 become U+FFFD; floats that JSON cannot hold become null.
//
//   JsonWriter json;
//   json.begin_object();
//   json.member("name", "x");
//   json.key("rows");
//   json.begin_array();
//   …
//   json.end_array();
//   json.end_object();
//   std::string text = json.take();
class JsonWriter {
 public:
  enum class Layout : std::uint8_t {
    OneLine,   // {"a": 1, "b": [2]}
    Minimal,   // {"a":1,"b":[2]}
    Indented,  // two blanks per level
  };

  explicit JsonWriter(Layout layout = Layout::OneLine) : layout_(layout) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(double number);
  void value(bool flag);
  void value(std::nullptr_t);
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) void value(Int number) {
    if constexpr (std::signed_integral<Int>) {
      write_signed(number);
    } else {
      write_unsigned(number);
    }
  }
  // `json` is a whole JSON value already.
  void raw(std::string_view json);

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void before_value();
  void new_line();
  void write_signed(std::int64_t number);
  void write_unsigned(std::uint64_t number);

  std::string out_;
  std::vector<bool> has_items_;  // one per open bracket
  Layout layout_;
  bool after_key_ = false;
};

// A JSON string with its quotes, ASCII only.
void append_json_string(std::string& out, std::string_view text);

// The text of Python's repr(float): "21.0", "67.82", "1e+16", "nan", "inf".
std::string python_float(double number);

// Python's round(x, digits): of the exact binary value, ties to even.
double python_round(double number, int digits);
// Python's round(x): nearest integer, ties to even. Beyond the range of int64 the nearest limit.
std::int64_t python_round(double number);

}  // namespace sonde
