#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trace/cupti_file.hpp"

namespace sonde::cupti {

// One record; numbers are read in the file's own order of bytes.
class Record {
 public:
  Record(const char* at, std::uint64_t offset, bool returned)
      : at_(at), offset_(offset), returned_(returned) {}
  template <typename Number>
  Number get(std::size_t where) const {
    Number value{};
    std::copy_n(at_ + where, sizeof value, reinterpret_cast<char*>(&value));
    return value;
  }
  std::uint64_t offset() const { return offset_; }
  bool returned() const { return returned_; }

 private:
  const char* at_;
  std::uint64_t offset_;
  bool returned_;
};

// The least that a record of a known kind must have; of others, the least that any has.
std::size_t least_bytes(Kind kind);

}  // namespace sonde::cupti
