#pragma once

#include "capture/python/interpreter.hpp"

// Threads that were born in C and come into the interpreter: up to CPython 3.11 nothing tells of
// them. So the calls of loaded libraries by which threads come in are led through functions that
// pass them on, and then let every hook have a look at the thread.

#if PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

// Called by a thread that has come in, with the interpreter's lock.
using ThreadVisit = void (*)(PyThreadState* state);

void visit_foreign_threads(ThreadVisit visit);
// Libraries that were loaded since the last time are seen to. Cheap where there are none.
void watch_libraries();

}  // namespace sonde::python

#endif
