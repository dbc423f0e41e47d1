#pragma once

#include "capture/python/line_table.hpp"

// The hook by which the interpreter tells of lines: a trace function for each thread up to CPython
// 3.11, local events of sys.monitoring from 3.12 on.

namespace sonde::python {

// trace_hook.cpp and line_events.cpp. False with an exception set.
bool install_line_hook();
void remove_line_hook();
// The code was chosen by itself while the hook is on.
bool watch_code(PyCodeObject* code);

// The program set a trace function of its own.
void interrupt_lines();

}  // namespace sonde::python
