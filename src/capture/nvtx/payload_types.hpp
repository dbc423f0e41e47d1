#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/nvtx/schemas.hpp"

namespace sonde::capture::nvtx {

struct TypeLayout {
  std::size_t size = 0;  // 0: not known, or not the same for all data
  std::size_t align = 1;
};

bool is_text_type(std::uint64_t type);
// Bytes of a character of a text type, or of a character type; 0 for others.
std::size_t character_size(std::uint64_t type);
// Of one value: a type of NVTX's own, an enumeration, or the data of a schema.
TypeLayout layout_of_type(const Domain& domain, std::uint64_t type);
// Of an entry as it lies in the data, its arrays and pointers told.
TypeLayout layout_of_entry(const Domain& domain, const SchemaEntry& entry);

struct Value {
  enum class Kind : unsigned char { None, Signed, Unsigned, Real, Text };
  Kind kind = Kind::None;
  std::uint64_t bits = 0;
  double real = 0;
  char text[64] = "";
};
// A value of a type of NVTX's own that is no text, or of an enumeration; None where it cannot be
// told. `bytes` has as many as the layout says.
Value read_value(const Domain& domain, std::uint64_t type, const unsigned char* bytes);

// Copies from an address that may be wrong; how many bytes could be.
std::size_t read_memory(const void* address, void* out, std::size_t size);
// A text at an address that may be wrong, as UTF-8. False where it cannot be read.
bool read_text(const void* address, std::size_t character, char* out, std::size_t size);
// The same of `count` bytes that are there; it ends with the first zero.
void copy_text(const unsigned char* bytes, std::size_t count, std::size_t character, char* out,
               std::size_t size);

}  // namespace sonde::capture::nvtx
