#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sonde {

// Objects of Python's marshal format, as inert values: nothing is ever run. Only what profiles need
// is kept: of a code object its file, first line and name.
class MarshalReader {
 public:
  enum class Type : std::uint8_t { None, Integer, Real, Text, List, Dict, Code };

  struct Value {
    Type type = Type::None;
    std::uint32_t first = 0;  // of the children; of the text in the input
    std::uint32_t size = 0;   // number of children; length of the text
    union {
      std::int64_t integer = 0;
      double real;
    };
  };

  // Python 3.11 changed the layout of code objects; the stream does not say which one it has.
  enum class CodeLayout { From311, UpTo310 };

  // `bytes` must outlive the reader.
  MarshalReader(std::string_view bytes, CodeLayout layout) : bytes_(bytes), layout_(layout) {}

  // Reads the dictionary that the stream consists of, item by item. False where it ends early or is
  // damaged: items() then has what came before, and failure() and position() say what is wrong.
  bool read_dictionary();

  // Keys and values in turn.
  const std::vector<std::uint32_t>& items() const { return items_; }
  std::size_t position() const { return at_; }
  const std::string& failure() const { return failure_; }

  const Value& value(std::uint32_t id) const { return values_[id]; }
  std::string_view text(const Value& value) const { return bytes_.substr(value.first, value.size); }
  std::uint32_t child(const Value& parent, std::uint32_t index) const {
    return children_[parent.first + index];
  }

 private:
  static constexpr std::uint32_t kNull = UINT32_MAX;  // the end of a dictionary
  static constexpr std::uint32_t kFailed = UINT32_MAX - 1;
  static constexpr int kMaxDepth = 2000;
  static constexpr std::size_t kMaxValues = 20'000'000;

  std::uint32_t read_object(int depth);
  std::uint32_t read_payload(char type, int depth);
  std::uint32_t read_sequence(std::int64_t count, int depth);
  std::uint32_t read_dict(int depth);
  std::uint32_t read_code(int depth);
  std::uint32_t read_text(std::int64_t length);
  std::uint32_t read_long();
  std::uint32_t read_text_float();
  std::uint32_t add(const Value& value);
  std::uint32_t add_list(Type type, const std::vector<std::uint32_t>& children);
  std::uint32_t add_integer(std::int64_t number);
  std::uint32_t add_real(double number);
  std::uint32_t fail(std::string reason);
  bool take(std::size_t count, std::string_view& out);
  bool take_byte(std::uint8_t& out);
  bool take_int32(std::int64_t& out);

  std::string_view bytes_;
  CodeLayout layout_;
  std::size_t at_ = 0;
  std::vector<Value> values_;
  std::vector<std::uint32_t> children_;
  std::vector<std::uint32_t> references_;
  std::vector<std::uint32_t> items_;
  std::string failure_;
};

}  // namespace sonde
