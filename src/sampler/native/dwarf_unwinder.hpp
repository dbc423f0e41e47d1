#pragma once

#include <sys/types.h>

#include <memory>

#include "sampler/native_frames.hpp"

namespace sonde {

// Walks over C stacks by the unwind tables of the process's files (libdw of elfutils). Files are
// looked for as the process sees them.
std::unique_ptr<NativeUnwinder> make_dwarf_unwinder(pid_t process);

}  // namespace sonde
