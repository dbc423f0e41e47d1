#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "import/input/byte_source.hpp"

namespace sonde {

// A source byte by byte.
class ByteReader {
 public:
  explicit ByteReader(ByteSource& source) : source_(source), buffer_(std::size_t{1} << 16) {}

  // The next byte, -1 at the end.
  Result<int> take() {
    if (at_ == size_) {
      Result<std::size_t> got = source_.read(buffer_);
      if (!got) return got.error();
      at_ = 0;
      size_ = *got;
      if (size_ == 0) return -1;
    }
    ++consumed_;
    return static_cast<unsigned char>(buffer_[at_++]);
  }

  // Fills `out` with the next `size` bytes; false where the source ends before.
  Result<bool> take(std::size_t size, std::string& out) {
    out.clear();
    while (out.size() < size) {
      Result<int> byte = take();
      if (!byte) return byte.error();
      if (*byte < 0) return false;
      out += static_cast<char>(*byte);
      const std::size_t part = std::min(size_ - at_, size - out.size());
      out.append(buffer_.data() + at_, part);
      at_ += part;
      consumed_ += part;
    }
    return true;
  }

  std::uint64_t consumed() const { return consumed_; }

 private:
  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace sonde
