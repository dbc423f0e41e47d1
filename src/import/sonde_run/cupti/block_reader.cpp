#include "import/sonde_run/cupti/block_reader.hpp"

#include <algorithm>
#include <cstring>

namespace sonde::cupti {
namespace {

constexpr std::uint64_t kLargestBlock = 64 << 20;

}  // namespace

std::size_t BlockReader::fill(std::span<char> out) {
  if (ended_ || out.empty()) return 0;
  const Result<std::size_t> got = source_.read(out);
  if (!got) {
    losses_.add("gpu_unreadable", Severity::Error,
                "The file of GPU records could not be read to its end: " + got.error().reason, 1,
                offset_);
    ended_ = true;
    return 0;
  }
  offset_ += *got;
  ended_ = *got < out.size();
  return *got;
}

bool BlockReader::skip(std::uint64_t bytes) {
  char scratch[4096];
  while (bytes > 0 && !ended_) {
    const std::size_t step =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes, sizeof scratch));
    bytes -= fill(std::span(scratch, step));
  }
  return bytes == 0;
}

void BlockReader::damage(std::uint64_t offset) {
  losses_.add("gpu_damaged_blocks", Severity::Warning,
              "Parts of the file of GPU records hold something else; they are left out", 1, offset);
}

bool BlockReader::read_header(FileHeader& header) {
  std::vector<char> page(kHeaderBytes);
  const std::size_t got = fill(page);
  if (got < sizeof header || std::memcmp(page.data(), kMagic, sizeof kMagic) != 0) {
    losses_.add("gpu_header", Severity::Warning,
                "The file of GPU records ends inside of its header; it is left out");
    return false;
  }
  std::memcpy(&header, page.data(), sizeof header);
  if (header.version != kVersion) {
    losses_.add("gpu_version", Severity::Error,
                "The file of GPU records is of version " + std::to_string(header.version) +
                    ", this Sonde reads version " + std::to_string(kVersion) +
                    "; read it with the Sonde that recorded it");
    return false;
  }
  return true;
}

bool BlockReader::next_block(BlockHeader& block) {
  if (!skip(left_)) return false;
  left_ = 0;
  for (;;) {
    const std::uint64_t at = offset_;
    if (fill(std::span(reinterpret_cast<char*>(&block), sizeof block)) < sizeof block) return false;
    const bool good = block.magic == kBlockMagic && block.bytes >= kBlockUnit &&
                      block.bytes <= kLargestBlock && block.bytes % kBlockUnit == 0;
    if (good) {
      left_ = block.bytes - sizeof block;
      return true;
    }
    if (block.magic == kBlockMagic) damage(at);
    if (!skip(kBlockUnit - sizeof block)) return false;
  }
}

std::span<const char> BlockReader::read_content(const BlockHeader& block) {
  std::uint64_t size = left_;
  if (block.type == BlockType::Records) {
    if (block.state == BlockState::Free) return {};
    if (block.state == BlockState::Returned) {
      if (block.used > left_) damage(offset_);
      size = std::min(block.used, left_);
    }
  }
  // Grows with what is really there, not with what the file says.
  buffer_.resize(std::min<std::uint64_t>(size, buffer_.capacity() > 0 ? size : kBlockUnit));
  std::size_t got = fill(buffer_);
  while (got == buffer_.size() && got < size) {
    buffer_.resize(std::min<std::uint64_t>(size, buffer_.size() * 4));
    got += fill(std::span(buffer_).subspan(got));
  }
  left_ -= got;
  return std::span<const char>(buffer_).first(got);
}

}  // namespace sonde::cupti
