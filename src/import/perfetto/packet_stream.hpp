#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/input/byte_source.hpp"

namespace sonde::perfetto_import {

inline constexpr std::size_t kMaxPacketBytes = std::size_t{64} << 20;

// Hands out the packets of a trace one after the other; memory for the largest of them only.
class PacketStream {
 public:
  explicit PacketStream(ByteSource& source) : source_(source), buffer_(std::size_t{1} << 18) {}

  // The next packet, valid until the next call. False at the end, and where no packet begins (see
  // losses()).
  Result<bool> next(std::string_view& packet);

  std::uint64_t offset() const { return offset_; }  // of the packet handed out last
  std::uint64_t bytes_read() const { return consumed_; }
  LossLedger& losses() { return losses_; }

 private:
  Result<bool> fill(std::size_t wanted);
  Result<bool> skip(std::uint64_t count);
  Result<bool> take_varint(std::uint64_t& out);
  bool stop(const char* name, const char* sentence);
  std::size_t waiting() const { return end_ - begin_; }

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t consumed_ = 0;  // everything before begin_
  std::uint64_t offset_ = 0;
  bool at_end_ = false;
  LossLedger losses_;
};

}  // namespace sonde::perfetto_import
