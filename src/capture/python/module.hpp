#pragma once

#include "capture/python/interpreter.hpp"

// What the parts of the module give to Python. Each list ends with an empty entry.

namespace sonde::python {

extern PyMethodDef span_methods[];         // spans.cpp
extern PyMethodDef session_methods[];      // module.cpp
extern PyMethodDef annotation_methods[];   // annotations.cpp
extern PyMethodDef function_methods[];     // functions.cpp
extern PyMethodDef line_methods[];         // lines.cpp
extern PyMethodDef memory_methods[];       // memory_lines.cpp
extern PyMethodDef line_memory_methods[];  // memory_trace.cpp
extern PyMethodDef object_methods[];       // objects_snapshots.cpp
extern PyMethodDef place_methods[];        // places.cpp
extern PyMethodDef network_methods[];      // network_calls.cpp

// What a part does when the recording ends, before its files are closed.
using StopHandler = void (*)();
void at_stop(StopHandler handler);

// Has the interpreter call that function of the module at its end. False, with an error, where it
// cannot.
bool call_at_exit(PyObject* module, const char* function);

}  // namespace sonde::python
