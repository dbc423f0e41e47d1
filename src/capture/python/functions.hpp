#pragma once

#include "capture/python/call_stack.hpp"

// Recording of functions: the threads, and the hook by which the interpreter tells of calls. Up to
// CPython 3.11 that is a profile function for each thread, from 3.12 on events of sys.monitoring.

namespace sonde::python {

// A thread of the system may have one state in the interpreter after the other, one for each time
// that it comes in: its sums stay the same. nullptr where there is no memory.
Thread* thread_of(PyThreadState* state);
// The calling thread becomes known as the owner.
void adopt_thread(Thread& thread);
Thread* this_thread();
// The thread's state goes: the calls at work end.
void end_thread(Thread& thread);
// The program set a hook of its own in the thread's place.
void interrupt_thread(Thread& thread);

// profile_hook.cpp and monitoring_hook.cpp. False with an exception set.
bool install_hook();
void remove_hook();
// After a thread was started, and now and then: libraries bring threads in.
void hook_new_threads();
void hook_new_libraries();

}  // namespace sonde::python
