#include "import/perfetto/packet_stream.hpp"

#include <algorithm>
#include <cstring>

namespace sonde::perfetto_import {
namespace {

constexpr std::uint64_t kPacketTag = 0x0A;

}  // namespace

// Tries to have `wanted` bytes in the buffer; false where the input ends before.
Result<bool> PacketStream::fill(std::size_t wanted) {
  if (waiting() >= wanted) return true;
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, waiting());
  end_ -= begin_;
  begin_ = 0;
  while (end_ < wanted) {
    // A wrong length must not cost memory: room grows with bytes that were really read.
    if (end_ == buffer_.size()) buffer_.resize(std::min(buffer_.size() * 2, kMaxPacketBytes * 2));
    Result<std::size_t> got = source_.read(std::span(buffer_).subspan(end_));
    if (!got) return got.error();
    if (*got == 0) {
      at_end_ = true;
      return false;
    }
    end_ += *got;
  }
  return true;
}

Result<bool> PacketStream::skip(std::uint64_t count) {
  while (count > 0) {
    Result<bool> more = fill(1);
    if (!more || !*more) return more;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, waiting()));
    begin_ += part;
    consumed_ += part;
    count -= part;
  }
  return true;
}

Result<bool> PacketStream::take_varint(std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    Result<bool> more = fill(1);
    if (!more || !*more) return more;
    const auto byte = static_cast<unsigned char>(buffer_[begin_++]);
    ++consumed_;
    out |= std::uint64_t{byte & 0x7Fu} << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool PacketStream::stop(const char* name, const char* sentence) {
  losses_.add(name, Severity::Warning, sentence, 1, offset_);
  at_end_ = true;
  begin_ = end_;
  return false;
}

Result<bool> PacketStream::next(std::string_view& packet) {
  constexpr const char* kCut =
      "The file ends within a packet: it was cut; what came before is read.";
  for (;;) {
    offset_ = consumed_;
    Result<bool> more = fill(1);
    if (!more || !*more) return more;
    std::uint64_t tag = 0;
    std::uint64_t size = 0;
    Result<bool> got = take_varint(tag);
    if (!got) return got;
    // Only packets stand here; a field of another number comes from a newer writer.
    if (!*got || (tag & 7) != 2 || tag >> 3 == 0) {
      return stop("broken_packets", "Bytes that are no packet; what came before them is read.");
    }
    got = take_varint(size);
    if (!got) return got;
    if (!*got) return stop("file_cut", kCut);
    if (tag != kPacketTag || size > kMaxPacketBytes) {
      losses_.add(tag == kPacketTag ? "huge_packets" : "unknown_parts", Severity::Warning,
                  tag == kPacketTag
                      ? "Packets of more than 64 MiB; they are passed over."
                      : "Parts of the file that are no packets; they are passed over.",
                  1, offset_);
      got = skip(size);
      if (!got) return got;
      if (!*got) return stop("file_cut", kCut);
      continue;
    }
    got = fill(static_cast<std::size_t>(size));
    if (!got) return got;
    if (!*got) return stop("file_cut", kCut);
    packet = {buffer_.data() + begin_, static_cast<std::size_t>(size)};
    begin_ += static_cast<std::size_t>(size);
    consumed_ += size;
    return true;
  }
}

}  // namespace sonde::perfetto_import
