#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/input/byte_source.hpp"

namespace sonde {

// Reads the outer messages of a protobuf file piece by piece: never holds more than one inner
// message. Nothing is taken for longer than the bytes that are really there.
class DumpStream {
 public:
  // Longer inner messages are passed over.
  static constexpr std::uint64_t kMaxMessage = 256 * 1024 * 1024;

  explicit DumpStream(ByteSource& source) : source_(source) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint32_t wire_type = 0;
    std::uint64_t value = 0;  // of a number; of a text or message its length
  };

  // The next field's head; its content, for wire type 2, stays to be taken or entered. Nothing at
  // the end of the input and where the bytes are no field: see failed().
  std::optional<Field> next();
  // The content of a text or message. Nothing where the input ends before it does, or it is too
  // long.
  std::optional<std::string_view> take(std::uint64_t length);

  std::uint64_t offset() const { return offset_; }
  bool failed() const { return failed_; }
  // For who finds that the input ends too early.
  void fail() { failed_ = true; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  bool fill(std::uint64_t wanted);
  bool varint(std::uint64_t& out);

  ByteSource& source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;  // of buffer_[at_] in the input
  std::uint64_t bytes_read_ = 0;
  bool ended_ = false;
  bool failed_ = false;
  std::optional<Error> error_;
};

}  // namespace sonde
