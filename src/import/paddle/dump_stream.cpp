#include "import/paddle/dump_stream.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;

}  // namespace

// Whether `wanted` bytes are in the buffer, after reading as many as it takes.
bool DumpStream::fill(std::uint64_t wanted) {
  while (buffer_.size() - at_ < wanted && !ended_) {
    if (at_ > 0) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    const std::size_t before = buffer_.size();
    buffer_.resize(before + std::max(kReadBytes, before / 2));
    const Result<std::size_t> got =
        source_.read({buffer_.data() + before, buffer_.size() - before});
    buffer_.resize(before + (got ? *got : 0));
    if (got) bytes_read_ += *got;
    if (!got) error_ = got.error();
    ended_ = !got || *got == 0;
  }
  return buffer_.size() - at_ >= wanted;
}

bool DumpStream::varint(std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (!fill(1)) return false;
    const auto byte = static_cast<unsigned char>(buffer_[at_++]);
    ++offset_;
    out |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

std::optional<DumpStream::Field> DumpStream::next() {
  if (failed_ || !fill(1)) return std::nullopt;
  Field field;
  std::uint64_t key = 0;
  failed_ = !varint(key) || (key >> 3) == 0 || (key >> 3) > 0x1FFFFFFF;
  if (failed_) return std::nullopt;
  field.number = static_cast<std::uint32_t>(key >> 3);
  field.wire_type = static_cast<std::uint32_t>(key & 7);
  switch (field.wire_type) {
    case 0:
    case 2:
      failed_ = !varint(field.value);
      break;
    case 1:
    case 5: {
      const std::size_t bytes = field.wire_type == 1 ? 8 : 4;
      failed_ = !fill(bytes);
      if (failed_) break;
      for (std::size_t i = 0; i < bytes; ++i) {
        field.value |= std::uint64_t{static_cast<unsigned char>(buffer_[at_ + i])} << (8 * i);
      }
      at_ += bytes;
      offset_ += bytes;
      break;
    }
    default:
      failed_ = true;
  }
  if (failed_) return std::nullopt;
  return field;
}

std::optional<std::string_view> DumpStream::take(std::uint64_t length) {
  if (length > kMaxMessage || !fill(length)) {
    failed_ = true;
    return std::nullopt;
  }
  const std::string_view content(buffer_.data() + at_, length);
  at_ += length;
  offset_ += length;
  return content;
}

}  // namespace sonde
