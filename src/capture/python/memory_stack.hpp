#pragma once

#include "capture/memory/interface.hpp"

namespace sonde::python {

// How the library that counts memory reads the stacks of this interpreter: without a call that
// allocates, counts a reference or wants the interpreter's lock. A thread's own frames do not
// change while it is inside of an allocation.
extern const memory::PythonSource memory_source;

}  // namespace sonde::python
