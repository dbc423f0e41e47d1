#pragma once

#include "capture/python/call_stack.hpp"

// Recording of functions: the threads, and the hook by which the interpreter tells of calls. Up to
// CPython 3.11 that is a profile function for each thread, from 3.12 on events of sys.monitoring.

namespace sonde::python {

// The threads that have been seen, and those that ended without one of their own.
Thread* thread_of(std::uint64_t interpreter_id);
// The calling thread becomes known as the owner.
void adopt_thread(Thread& thread);
Thread* this_thread();
// Nothing more comes from it.
void end_thread(Thread& thread);
// The program set a hook of its own in the thread's place.
void interrupt_thread(Thread& thread);

// profile_hook.cpp and monitoring_hook.cpp. False with an exception set.
bool install_hook();
void remove_hook();
// After a thread was started.
void hook_new_threads();

}  // namespace sonde::python
