#include "capture/python/foreign_threads.hpp"
#include "capture/python/functions.hpp"
#include "capture/python/thread_states.hpp"

// Up to CPython 3.11: a profile function in C for each thread.

#if PY_VERSION_HEX < 0x030C0000

namespace sonde::python {
namespace {

// What the interpreter passes to the hook. It goes when the thread ends, or when somebody sets
// another profile function.
struct Owner {
  PyObject_HEAD Thread* thread;
  std::uint32_t number;
};

bool removing = false;
bool hooked = false;

void drop_owner(PyObject* object) {
  Thread& thread = *reinterpret_cast<Owner*>(object)->thread;
  const bool current = thread.owner == reinterpret_cast<Owner*>(object)->number;
  PyObject_Free(object);
  if (removing || !current) return;
  // A thread that ends has no frame left.
  if (!thread.abandoned && PyEval_GetFrame()) {
    interrupt_thread(thread);
  } else {
    end_thread(thread);
  }
}

PyTypeObject owner_type{};

int on_event(PyObject* owner, PyFrameObject* frame, int what, PyObject* argument) {
  Thread& thread = *reinterpret_cast<Owner*>(owner)->thread;
  switch (what) {
    case PyTrace_CALL:
      enter_code(thread, code_of(frame));
      break;
    case PyTrace_RETURN:
      leave_code(thread, code_of(frame));
      break;
    case PyTrace_C_CALL:
      if (call_options.builtins && PyCFunction_Check(argument)) {
        const auto* const function = reinterpret_cast<PyCFunctionObject*>(argument);
        enter_native(thread, function->m_ml, function->m_self, function->m_module);
      }
      break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
      if (call_options.builtins && PyCFunction_Check(argument)) {
        leave_native(thread, reinterpret_cast<PyCFunctionObject*>(argument)->m_ml);
      }
      break;
  }
  return 0;
}

// Leaves a profile function of the program in its place.
bool install(PyThreadState* state) {
  if (state->c_profilefunc) return true;
  Thread* const thread = thread_of(state);
  if (!thread) {
    PyErr_NoMemory();
    return false;
  }
  Owner* const owner = PyObject_New(Owner, &owner_type);
  if (!owner) return false;
  owner->thread = thread;
  owner->number = thread->owner;
  const int failed = _PyEval_SetProfile(state, on_event, reinterpret_cast<PyObject*>(owner));
  if (failed != 0) removing = true;
  Py_DECREF(owner);
  removing = false;
  return failed == 0;
}

void hook_foreign_thread(PyThreadState* state) {
  if (!hooked || state->c_profilefunc) return;
  const KeepError keep;
  if (!install(state)) PyErr_Clear();
}

}  // namespace

bool install_hook() {
  if (!ready_type(owner_type, "sonde._agent.Thread", sizeof(Owner), drop_owner)) return false;
  if (PyThreadState_Get()->c_profilefunc) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: another profile function is set");
    return false;
  }
  hooked = true;
  visit_foreign_threads(hook_foreign_thread);
  return for_each_state(install);
}

void remove_hook() {
  hooked = false;
  const KeepError keep;
  removing = true;
  for_each_state([](PyThreadState* state) {
    if (state->c_profilefunc == on_event) _PyEval_SetProfile(state, nullptr, nullptr);
    PyErr_Clear();
    return true;
  });
  removing = false;
}

void hook_new_libraries() { watch_libraries(); }

void hook_new_threads() {
  const KeepError keep;
  for_each_state([](PyThreadState* state) {
    if (!install(state)) PyErr_Clear();
    return true;
  });
}

}  // namespace sonde::python

#endif
