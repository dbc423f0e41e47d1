#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "trace/ids.hpp"

namespace sonde {

// Each different string once, numbered in the order of first appearance. Views stay valid as long
// as the pool lives (also when the pool is moved). Id 0 is the empty string.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  StringId intern(std::string_view text);
  // The id of `text`, or an invalid id where it was never interned.
  StringId find(std::string_view text) const;

  std::string_view view(StringId id) const {
    return id.value < entries_.size()
               ? std::string_view(entries_[id.value].data, entries_[id.value].size)
               : std::string_view();
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const;

 private:
  struct Entry {
    const char* data;
    std::uint32_t size;
    std::uint32_t hash;
  };

  const char* store(std::string_view text);
  std::uint32_t slot_for(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // entry index + 1; 0 is free
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::size_t stored_bytes_ = 0;
};

}  // namespace sonde
