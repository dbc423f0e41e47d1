#include "import/xplane/proto_stream.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace sonde {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::size_t kMaxVarint = 10;

}  // namespace

bool ProtoStream::fail(Trouble trouble) {
  if (trouble_ == Trouble::None) trouble_ = trouble;
  return false;
}

bool ProtoStream::ensure(std::size_t size) {
  if (end_ - begin_ >= size) return true;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ < size && !input_ended_) {
    if (buffer_.size() - end_ < kBufferBytes / 2)
      buffer_.resize(std::max(kBufferBytes, buffer_.size() * 2));
    const std::span<char> room(buffer_.data() + end_, buffer_.size() - end_);
    Result<std::size_t> got = source_.read(room);
    if (!got) {
      error_ = got.error();
      input_ended_ = true;
      return fail(Trouble::Unreadable);
    }
    end_ += *got;
    if (*got < room.size()) input_ended_ = true;
  }
  return end_ >= size;
}

bool ProtoStream::varint(std::uint64_t& value) {
  if (trouble_ != Trouble::None) return false;
  ensure(kMaxVarint);
  value = 0;
  for (std::size_t i = 0; i < kMaxVarint; ++i) {
    if (begin_ + i >= end_) return fail(Trouble::Cut);
    const auto byte = static_cast<unsigned char>(buffer_[begin_ + i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      begin_ += i + 1;
      offset_ += i + 1;
      return true;
    }
  }
  return fail(Trouble::Broken);
}

bool ProtoStream::next(std::uint64_t end, ProtoField& field) {
  if (trouble_ != Trouble::None) return false;
  if (offset_ >= end) return offset_ == end ? false : fail(Trouble::Broken);
  if (!ensure(1)) {
    if (trouble_ != Trouble::None || end == kNoEnd) return false;
    return fail(Trouble::Cut);
  }
  std::uint64_t key = 0;
  if (!varint(key)) return false;
  field.number = static_cast<std::uint32_t>(key >> 3);
  field.wire_type = static_cast<std::uint32_t>(key & 7);
  const bool known = field.wire_type <= 2 || field.wire_type == ProtoField::kFixed32;
  if (!known || field.number == 0 || key >> 32 != 0) return fail(Trouble::Broken);
  return true;
}

bool ProtoStream::length(std::uint64_t end, std::uint64_t& size) {
  if (!varint(size)) return false;
  if (offset_ > end || size > end - offset_) return fail(Trouble::Broken);
  return true;
}

bool ProtoStream::bytes(std::uint64_t size, std::string_view& out) {
  if (trouble_ != Trouble::None) return false;
  if (!ensure(static_cast<std::size_t>(size))) return fail(Trouble::Cut);
  out = {buffer_.data() + begin_, static_cast<std::size_t>(size)};
  begin_ += static_cast<std::size_t>(size);
  offset_ += size;
  return true;
}

bool ProtoStream::skip(std::uint64_t size) {
  while (size > 0) {
    if (trouble_ != Trouble::None) return false;
    if (!ensure(1)) return fail(Trouble::Cut);
    const auto part = std::min<std::uint64_t>(size, end_ - begin_);
    begin_ += static_cast<std::size_t>(part);
    offset_ += part;
    size -= part;
  }
  return true;
}

bool ProtoStream::skip_value(const ProtoField& field, std::uint64_t end) {
  std::uint64_t size = 0;
  switch (field.wire_type) {
    case ProtoField::kVarint:
      return varint(size);
    case ProtoField::kFixed64:
      return skip(8);
    case ProtoField::kFixed32:
      return skip(4);
    default:
      return length(end, size) && skip(size);
  }
}

}  // namespace sonde
