#include "capture/python/functions.hpp"

#include <pthread.h>
#include <stdio.h>

#include "capture/python/module.hpp"
#include "capture/python/session.hpp"

namespace sonde::python {
namespace {

Thread* threads = nullptr;
// At first use by its thread; what another thread prepared is found here from its first call on.
__thread Thread* mine __attribute__((tls_model("initial-exec")));
pthread_key_t end_of_thread;
bool recording = false;
std::uint32_t interrupted_threads = 0;

void give_thread_back(void* thread) {
  __atomic_store_n(&static_cast<Thread*>(thread)->unused, true, __ATOMIC_RELEASE);
}

// In a child only the thread that forked is left. What the others had is given up with them.
void begin_anew_in_child() {
  Thread* const own = mine;
  for (Thread* thread = threads; thread; thread = thread->next) {
    thread->abandoned = thread != own;
    reset_thread(*thread);
  }
  interrupted_threads = 0;
}

void stop_recording() {
  if (!recording) return;
  remove_hook();
  recording = false;
  for (Thread* thread = threads; thread; thread = thread->next) finish_calls(*thread);
}

// The recording ends: the sums are void from here on.
void forget_threads() {
  stop_recording();
  for (Thread* thread = threads; thread; thread = thread->next) reset_thread(*thread);
}

PyObject* start_functions(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"timeline", "builtins", nullptr};
  int timeline = 0;
  int builtins = 1;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|pp:start_functions",
                                   const_cast<char**>(names), &timeline, &builtins)) {
    return nullptr;
  }
  if (!session_runs()) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: start() comes first");
    return nullptr;
  }
  if (recording) Py_RETURN_NONE;
  static bool prepared = false;
  if (!prepared && pthread_key_create(&end_of_thread, give_thread_back) != 0) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: the process has no thread-specific data left");
    return nullptr;
  }
  prepared = true;
  at_fork_in_child(begin_anew_in_child);
  at_stop(forget_threads);
  if (call_options.timeline != (timeline != 0)) {
    // What is known of functions says whether they have slices.
    for (Thread* thread = threads; thread; thread = thread->next) reset_thread(*thread);
  }
  call_options = {timeline != 0, builtins != 0};
  add_inherited_property("python.functions",
                         timeline ? "every call, and its slices" : "every call");
  add_inherited_property("python.functions.hook",
                         kHasMonitoring ? "sys.monitoring" : "profile function");
  recording = true;
  if (!install_hook()) {
    recording = false;
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* stop_functions(PyObject*, PyObject*) {
  stop_recording();
  Py_RETURN_NONE;
}

}  // namespace

Thread* thread_of(PyThreadState* state) {
  const std::uint64_t id = PyThreadState_GetID(state);
  Thread* found = nullptr;
  for (Thread* thread = threads; thread; thread = thread->next) {
    if (thread->interpreter_id == id) return thread;
    if (__atomic_load_n(&thread->unused, __ATOMIC_ACQUIRE)) found = thread;
  }
  if (mine && mine->interpreter_id == 0 && state == PyThreadState_Get()) {
    found = mine;
  } else if (found) {
    reset_thread(*found);
    found->unused = found->adopted = found->abandoned = found->interrupted = false;
  } else {
    found = static_cast<Thread*>(calloc(1, sizeof(Thread)));
    if (!found) return nullptr;
    init_thread(*found);
    found->next = threads;
    threads = found;
  }
  found->interpreter_id = id;
  ++found->owner;
  return found;
}

void adopt_thread(Thread& thread) {
  if (mine == &thread) return;
  mine = &thread;
  thread.adopted = true;
  pthread_setspecific(end_of_thread, &thread);
}

Thread* this_thread() { return mine; }

void end_thread(Thread& thread) {
  finish_calls(thread);
  thread.interpreter_id = 0;
  if (!thread.adopted || thread.abandoned) thread.unused = true;
}

void interrupt_thread(Thread& thread) {
  finish_calls(thread);
  if (thread.interrupted) return;
  thread.interrupted = true;
  ++interrupted_threads;
  char text[160];
  snprintf(text, sizeof text,
           "recording interrupted: the program set a profile function of its own in %u thread%s",
           interrupted_threads, interrupted_threads == 1 ? "" : "s");
  add_property("python.functions.interrupted", text);
  static sonde_name marker = SONDE_NAME_INIT("Python recording interrupted");
  sonde_marker(&marker, nullptr, 't');
}

PyMethodDef function_methods[] = {
    {"start_functions",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(start_functions)),
     METH_VARARGS | METH_KEYWORDS,
     "start_functions(timeline=False, builtins=True): records every call in all threads."},
    {"stop_functions", stop_functions, METH_NOARGS, "Ends the recording of calls."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
