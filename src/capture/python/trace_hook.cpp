#include "capture/python/trace_hook.hpp"

#include "capture/python/foreign_threads.hpp"
#include "capture/python/lines.hpp"
#include "capture/python/thread_states.hpp"

#if PY_VERSION_HEX < 0x030C0000

namespace sonde::python {
namespace {

// Goes when the thread ends, or when somebody sets another trace function.
struct Owner {
  PyObject_HEAD
};

bool removing = false;
bool hooked = false;
PyInterpreterState* interpreter = nullptr;
std::uint64_t newest = 0;  // number of the newest thread that has the hook; addresses come again
std::uint32_t other_calls = 0;

void drop_owner(PyObject* object) {
  PyObject_Free(object);
  if (removing || !PyEval_GetFrame()) return;
  LineThread* const thread = line_thread();
  const std::uint64_t now = sonde_ticks();
  while (thread && thread->top != thread->base) leave_frame(*thread, now);
  interrupt_lines();
}

PyTypeObject owner_type{};

// Frames of copies tell of their lines themselves.
bool has_probes(const PyCodeObject* code) {
  const LineTable* const table = table_of(code);
  return table && table->origin;
}

// The next probe of the frame takes its slow way, which is where tracing can be turned off.
void disturb(LineThread& thread, PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  if (!hooked && at_work(thread, frame->f_frame)) thread.top->table = nullptr;
#else
  static_cast<void>(thread);
  static_cast<void>(frame);
#endif
}

std::uint64_t newest_state() {
  return PyThreadState_GetID(PyInterpreterState_ThreadHead(interpreter));
}

void hook_threads();

int on_event(PyObject*, PyFrameObject* frame, int what, PyObject*) {
  switch (what) {
    case PyTrace_LINE: {
      const std::uint64_t now = sonde_ticks();
      LineThread* const thread = line_thread();
      if (__builtin_expect(!thread, 0)) break;
      if (__builtin_expect(!at_work(*thread, frame), 0)) {
        if (has_probes(code_of(frame))) {
          disturb(*thread, frame);
          break;
        }
        // A frame that was at work before the recording may be of any code.
        LineTable* const table = line_table(code_of(frame));
        if (!table || !push_frame(*thread, frame, *table)) {
          frame->f_trace_lines = 0;
          break;
        }
      }
      begin_line(*thread, frame->f_lineno, now);
      break;
    }
    case PyTrace_CALL:
      if (!hooked || has_probes(code_of(frame))) break;
      // A thread that was started stands first in the list.
      if (__builtin_expect(newest_state() != newest, 0)) hook_threads();
      if (!line_table(code_of(frame))) {
        frame->f_trace_lines = 0;
        // Libraries are loaded by code that is none of the program's.
        if (++other_calls % 64 == 0) watch_libraries();
      }
      break;
    case PyTrace_RETURN: {
      LineThread* const thread = line_thread();
      if (thread && at_work(*thread, frame)) leave_frame(*thread, sonde_ticks());
      if (!hooked) end_traced_frame(frame);
      break;
    }
  }
  return 0;
}

bool install(PyThreadState* state) {
  if (state->c_tracefunc) return true;
  PyObject* const owner = reinterpret_cast<PyObject*>(PyObject_New(Owner, &owner_type));
  if (!owner) return false;
  const int failed = _PyEval_SetTrace(state, on_event, owner);
  if (failed != 0) removing = true;
  Py_DECREF(owner);
  removing = false;
  return failed == 0;
}

void hook_threads() {
  const KeepError keep;
  newest = newest_state();
  for_each_state([](PyThreadState* state) {
    if (!install(state)) PyErr_Clear();
    return true;
  });
}

void hook_foreign_thread(PyThreadState* state) {
  if (!hooked || state->c_tracefunc) return;
  const KeepError keep;
  if (!install(state)) PyErr_Clear();
}

}  // namespace

bool trace_thread(PyThreadState* state) {
  return ready_type(owner_type, "sonde._agent.Lines", sizeof(Owner), drop_owner) && install(state);
}

void untrace_thread(PyThreadState* state) {
  if (!is_traced(state)) return;
  const bool before = removing;
  removing = true;
  if (_PyEval_SetTrace(state, nullptr, nullptr) != 0) PyErr_Clear();
  removing = before;
}

bool is_traced(const PyThreadState* state) { return state->c_tracefunc == on_event; }

void quiet_thread(PyThreadState* state) {
#if PY_VERSION_HEX >= 0x030B0000
  if (!hooked && is_traced(state) && !state->c_profilefunc) state->cframe->use_tracing = 0;
#else
  static_cast<void>(state);
#endif
}

bool install_trace_hook() {
  if (!ready_type(owner_type, "sonde._agent.Lines", sizeof(Owner), drop_owner)) return false;
  if (PyThreadState_Get()->c_tracefunc && !is_traced(PyThreadState_Get())) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: another trace function is set");
    return false;
  }
  hooked = true;
  visit_foreign_threads(hook_foreign_thread);
  interpreter = PyInterpreterState_Get();
  newest = newest_state();
  return for_each_state(install);
}

void remove_trace_hook() {
  const KeepError keep;
  hooked = false;
  for_each_state([](PyThreadState* state) {
    untrace_thread(state);
    return true;
  });
}

#if PY_VERSION_HEX < 0x030B0000
bool install_line_hook() { return install_trace_hook(); }
void remove_line_hook() { remove_trace_hook(); }
const char* line_hook_name() { return "trace function"; }
bool watch_code(PyCodeObject*) { return true; }
void end_traced_frame(PyFrameObject*) {}
PyObject* line_copy(PyCodeObject*) { Py_RETURN_NONE; }
#endif

}  // namespace sonde::python

#endif
