#pragma once

#include "capture/memory/interface.hpp"

namespace sonde::python {

// The library that counts memory, preloaded or loaded now; nullptr where it is not to be found.
const memory::Interface* memory_library();

// Puts the library in front of the interpreter's allocators, as often as asked for, and takes it
// away again with the last release.
bool hold_allocators();
void release_allocators();

// What the agent allocates for itself is not counted, where memory is counted.
class OwnMemory {
 public:
  OwnMemory() : library_(memory_library()) {
    if (library_) library_->quiet(true);
  }
  ~OwnMemory() {
    if (library_) library_->quiet(false);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

 private:
  const memory::Interface* library_;
};

}  // namespace sonde::python
