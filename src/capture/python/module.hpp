#pragma once

#include "capture/python/interpreter.hpp"

// What the parts of the module give to Python. Each list ends with an empty entry.

namespace sonde::python {

extern PyMethodDef session_methods[];     // module.cpp
extern PyMethodDef annotation_methods[];  // annotations.cpp
extern PyMethodDef function_methods[];    // functions.cpp
extern PyMethodDef line_methods[];        // lines.cpp

// What a part does when the recording ends, before its files are closed.
using StopHandler = void (*)();
void at_stop(StopHandler handler);

}  // namespace sonde::python
