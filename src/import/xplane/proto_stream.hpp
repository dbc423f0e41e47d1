#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/input/byte_source.hpp"

namespace sonde {

// A field of a protobuf message: its number and how its value is written.
struct ProtoField {
  std::uint32_t number = 0;
  std::uint32_t wire_type = 0;
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kFixed64 = 1;
  static constexpr std::uint32_t kBytes = 2;
  static constexpr std::uint32_t kFixed32 = 5;
};

// Reads nested protobuf messages from a stream without ever holding an outer one whole. After the
// first thing that does not fit everything returns false, and trouble() tells what it was.
class ProtoStream {
 public:
  explicit ProtoStream(ByteSource& source) : source_(source) {}

  enum class Trouble : std::uint8_t { None, Cut, Broken, Unreadable };
  Trouble trouble() const { return trouble_; }
  const Error& error() const { return error_; }     // for Unreadable
  std::uint64_t offset() const { return offset_; }  // of the next byte

  static constexpr std::uint64_t kNoEnd = UINT64_MAX;

  // The next field of a message that ends at offset `end` (kNoEnd: where the input ends); false at
  // its end.
  bool next(std::uint64_t end, ProtoField& field);
  bool varint(std::uint64_t& value);
  // The length of a value that must lie before `end`.
  bool length(std::uint64_t end, std::uint64_t& size);
  // The next `size` bytes; valid until the next call. Memory grows only with bytes that are there.
  bool bytes(std::uint64_t size, std::string_view& out);
  bool skip(std::uint64_t size);
  // Passes over the value of a field.
  bool skip_value(const ProtoField& field, std::uint64_t end);

 private:
  bool fail(Trouble trouble);
  // At least `size` bytes in the buffer; false where the input ends before.
  bool ensure(std::size_t size);

  ByteSource& source_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool input_ended_ = false;
  Trouble trouble_ = Trouble::None;
  Error error_;
};

}  // namespace sonde
