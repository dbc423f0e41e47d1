#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sampler/memory.hpp"

namespace sonde::test {

// Memory that a test fills: pieces at addresses, nothing between them.
class FakeMemory : public Memory {
 public:
  bool read(Address address, void* out, std::size_t size) const override {
    ++reads;
    auto at = pieces_.upper_bound(address);
    if (at == pieces_.begin()) return false;
    --at;
    const std::uint64_t offset = address - at->first;
    if (offset > at->second.size() || at->second.size() - offset < size) return false;
    std::memcpy(out, at->second.data() + offset, size);
    return true;
  }

  // A new piece of zeros; its address.
  Address make(std::size_t size) {
    const Address address = next_;
    next_ += (size + 0xFFF) / 0x1000 * 0x1000 + 0x1000;
    pieces_[address] = std::string(size, '\0');
    return address;
  }
  void put_bytes(Address address, std::string_view bytes) {
    auto at = pieces_.upper_bound(address);
    --at;
    at->second.replace(address - at->first, bytes.size(), bytes);
  }
  template <class T>
  void put(Address address, T value) {
    put_bytes(address, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  void forget(Address address) { pieces_.erase(address); }

  mutable std::size_t reads = 0;

 private:
  std::map<Address, std::string> pieces_;
  Address next_ = 0x10000;
};

}  // namespace sonde::test
