#pragma once

#include "capture/python/line_table.hpp"

// The hook by which the interpreter tells of lines: a trace function for each thread up to CPython
// 3.10, copies of the code with probes in them in 3.11, local events of sys.monitoring from 3.12
// on.

namespace sonde::python {

// trace_hook.cpp, eval_hook.cpp and line_events.cpp. False with an exception set.
bool install_line_hook();
void remove_line_hook();
const char* line_hook_name();
// What is run in place of that code, which is recorded from here on; None: the code itself. A new
// reference; nullptr with an exception set.
PyObject* line_copy(PyCodeObject* code);
// The code was chosen by itself while the hook is on.
bool watch_code(PyCodeObject* code);

// The program set a trace function of its own.
void interrupt_lines();

}  // namespace sonde::python
