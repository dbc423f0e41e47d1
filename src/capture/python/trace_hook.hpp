#pragma once

#include "capture/python/interpreter.hpp"

// Up to CPython 3.11: a trace function in C.

#if PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

// For all threads, those to come as well. False with an exception set.
bool install_trace_hook();
void remove_trace_hook();

// For one thread, unless it has a trace function. May not be called with an exception set.
bool trace_thread(PyThreadState* state);
void untrace_thread(PyThreadState* state);
bool is_traced(const PyThreadState* state);
// The frame at work in the thread, whose code has probes, need not be traced: an exception in it
// has turned that on again.
void quiet_thread(PyThreadState* state);

// eval_hook.cpp: a frame of a thread that is traced for some of its frames alone has been left.
void end_traced_frame(PyFrameObject* frame);

}  // namespace sonde::python

#endif
