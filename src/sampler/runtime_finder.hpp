#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"
#include "sampler/layout.hpp"
#include "sampler/memory.hpp"

namespace sonde {

// The interpreter inside of a process.
struct PythonRuntime {
  Address address = 0;  // of _PyRuntime
  PythonLayout layout;
  std::string path;  // of the program or library that it lies in, as the process has it
};

// Whether a process has an interpreter, and where. ErrorCode::NotFound: it is no Python program (or
// not yet); NoPermission: it may not be looked into; Unsupported: an interpreter that Sonde does
// not know. One sentence and the way out in each.
Result<PythonRuntime> find_python(pid_t pid, const Memory& memory);

// Whether the interpreter's structures hang together as `layout` says.
bool looks_right(const Memory& memory, const PythonRuntime& runtime);

// What stands in the way of reading a process's memory, by errno, with the way out.
Error no_access(pid_t pid, int code);

// "libpython3.9.so.1.0", "python3.9" -> 3.9.
PythonVersion version_of_name(std::string_view path);

}  // namespace sonde
