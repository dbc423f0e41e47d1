#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde {

// An address in another process, or a place in a file.
using Address = std::uint64_t;

struct MemoryPiece {
  Address address = 0;
  void* out = nullptr;
  std::size_t size = 0;
  bool read = false;  // all of it
};

// Bytes that may change or vanish at any time, and that nothing may be believed of.
class Memory {
 public:
  virtual ~Memory() = default;

  // All of the bytes, or false.
  virtual bool read(Address address, void* out, std::size_t size) const = 0;
  // Many small pieces; each says whether it was read.
  virtual void read_all(std::span<MemoryPiece> pieces) const {
    for (MemoryPiece& piece : pieces) piece.read = read(piece.address, piece.out, piece.size);
  }

  template <class T>
  bool get(Address address, T& out) const {
    return read(address, &out, sizeof out);
  }
};

}  // namespace sonde
