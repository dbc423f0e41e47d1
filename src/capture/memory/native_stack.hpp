#pragma once

#include <cstddef>
#include <cstdint>

// The native stack of the calling thread and the names of its functions, without any allocation and
// without the dynamic linker's lock.

namespace sonde::memory {

// Addresses inside of the calls, the innermost one first, without this library's own frames.
int walk_native(std::uintptr_t* out, int most);

struct NativeSymbol {
  std::uintptr_t start;  // of the function; 0 where it has no name
  const char* object;    // the program or shared library; nullptr where it is none
};
// Writes the function's name as the linker has it, or "0x1234" from the start of its file.
NativeSymbol find_symbol(std::uintptr_t address, char* name, std::size_t size);

}  // namespace sonde::memory
