#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "import/input/byte_source.hpp"
#include "trace/cupti_file.hpp"
#include "trace/loss_ledger.hpp"

namespace sonde::cupti {

// A piece of records as it lies in the file.
struct RecordBlock {
  std::span<const char> bytes;
  std::uint64_t offset = 0;  // in the file
  bool returned = false;     // else CUPTI still had it when the process ended
};

struct Name {
  NameType type = NameType::Text;
  std::uint64_t key = 0;
  std::uint32_t id = 0;
  std::string_view text;
};

// Cuts a .cupti file into its blocks. Holds one block at a time.
class BlockReader {
 public:
  BlockReader(ByteSource& source, LossLedger& losses) : source_(source), losses_(losses) {}

  // False where there is no header that can be used; the ledger says why.
  bool read_header(FileHeader& header);

  // Calls `on_records` and `on_name` in the order of the file.
  template <class OnRecords, class OnName>
  void read_blocks(OnRecords&& on_records, OnName&& on_name) {
    BlockHeader block{};
    while (next_block(block)) {
      const std::uint64_t at = offset_;
      const std::span<const char> content = read_content(block);
      if (block.type == BlockType::Records) {
        if (!content.empty()) on_records({content, at, block.state == BlockState::Returned});
      } else if (block.type == BlockType::Names) {
        for_each_name(content, on_name);
      } else {
        damage(at);
      }
    }
  }

  std::uint64_t bytes() const { return offset_; }

 private:
  bool next_block(BlockHeader& block);
  std::span<const char> read_content(const BlockHeader& block);
  std::size_t fill(std::span<char> out);
  bool skip(std::uint64_t bytes);
  void damage(std::uint64_t offset);

  template <class OnName>
  void for_each_name(std::span<const char> content, OnName&& on_name) {
    for (std::size_t at = 0; at + sizeof(NameEntry) <= content.size();) {
      NameEntry entry{};
      std::copy_n(content.data() + at, sizeof entry, reinterpret_cast<char*>(&entry));
      if (entry.id == 0) return;
      at += sizeof entry;
      if (entry.size > content.size() - at) return damage(offset_);
      on_name(Name{entry.type, entry.key, entry.id, {content.data() + at, entry.size}});
      at += (entry.size + 7) / 8 * 8;
    }
  }

  ByteSource& source_;
  LossLedger& losses_;
  std::uint64_t offset_ = 0;
  std::vector<char> buffer_;
  std::uint64_t left_ = 0;  // of the block at work, behind what was read of it
  bool ended_ = false;
};

}  // namespace sonde::cupti
