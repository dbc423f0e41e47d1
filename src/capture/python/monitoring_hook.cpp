#include "capture/python/functions.hpp"

// From CPython 3.12 on: events of sys.monitoring, for all threads at once. The callbacks are
// objects that are called as vectors, without a step between.

#if PY_VERSION_HEX >= 0x030C0000

#include "capture/python/monitoring.hpp"

namespace sonde::python {
namespace {

// In the dictionary of the thread's state: goes when the thread ends.
struct Owner {
  PyObject_HEAD Thread* thread;
  std::uint32_t number;
};

int tool = -1;
PyObject* missing = nullptr;  // what stands for an argument that is not there

void drop_owner(PyObject* object) {
  Thread& thread = *reinterpret_cast<Owner*>(object)->thread;
  const bool current = thread.owner == reinterpret_cast<Owner*>(object)->number;
  PyObject_Free(object);
  if (current) end_thread(thread);
}

PyTypeObject owner_type{};

// The first event of a thread.
Thread* begin_thread() {
  const KeepError keep;
  Thread* const thread = thread_of(PyThreadState_Get());
  PyObject* const dictionary = PyThreadState_GetDict();
  if (!thread || !dictionary) return nullptr;
  Owner* const owner = PyObject_New(Owner, &owner_type);
  if (!owner) {
    PyErr_Clear();
    return nullptr;
  }
  owner->thread = thread;
  owner->number = thread->owner;
  adopt_thread(*thread);
  if (PyDict_SetItemString(dictionary, "sonde._agent", reinterpret_cast<PyObject*>(owner)) != 0) {
    PyErr_Clear();
  }
  Py_DECREF(owner);
  return this_thread();
}

inline Thread* current() {
  Thread* const thread = this_thread();
  return __builtin_expect(thread && thread->interpreter_id != 0, 1) ? thread : begin_thread();
}

PyObject* on_enter(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  if (Thread* const thread = current()) {
    enter_code(*thread, reinterpret_cast<PyCodeObject*>(arguments[0]));
  }
  Py_RETURN_NONE;
}

PyObject* on_leave(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  if (Thread* const thread = current()) {
    leave_code(*thread, reinterpret_cast<PyCodeObject*>(arguments[0]));
  }
  Py_RETURN_NONE;
}

// A method that is called by way of its type counts where its first argument has that type.
bool is_method_call(PyObject* callable, PyObject* self) {
  return Py_IS_TYPE(callable, &PyMethodDescr_Type) && self != missing &&
         PyObject_TypeCheck(self, PyDescr_TYPE(callable));
}

PyObject* on_call(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  PyObject* const callable = arguments[2];
  if (PyFunction_Check(callable)) Py_RETURN_NONE;
  if (PyCFunction_Check(callable)) {
    if (Thread* const thread = current()) {
      const auto* const function = reinterpret_cast<PyCFunctionObject*>(callable);
      enter_native(*thread, function->m_ml, function->m_self, function->m_module);
    }
  } else if (is_method_call(callable, arguments[3])) {
    if (Thread* const thread = current()) {
      enter_native(*thread, reinterpret_cast<PyMethodDescrObject*>(callable)->d_method,
                   arguments[3], nullptr);
    }
  }
  Py_RETURN_NONE;
}

PyObject* on_native_return(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  PyObject* const callable = arguments[2];
  PyMethodDef* definition = nullptr;
  if (PyCFunction_Check(callable)) {
    definition = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  } else if (is_method_call(callable, arguments[3])) {
    definition = reinterpret_cast<PyMethodDescrObject*>(callable)->d_method;
  }
  if (Thread* const thread = definition ? current() : nullptr) leave_native(*thread, definition);
  Py_RETURN_NONE;
}

}  // namespace

bool install_hook() {
  if (!ready_type(owner_type, "sonde._agent.Thread", sizeof(Owner), drop_owner)) return false;
  if (!missing && !(missing = monitoring_value("MISSING"))) return false;
  const MonitoringCallback callbacks[] = {
      {"PY_START", on_enter},  {"PY_RESUME", on_enter},        {"PY_THROW", on_enter},
      {"PY_RETURN", on_leave}, {"PY_YIELD", on_leave},         {"PY_UNWIND", on_leave},
      {"CALL", on_call},       {"C_RETURN", on_native_return}, {"C_RAISE", on_native_return},
  };
  const std::size_t count = call_options.builtins ? 9 : 6;
  tool = take_monitoring_tool("sonde functions");
  if (tool < 0) return false;
  if (set_monitoring_callbacks(tool, callbacks, count, count)) return true;
  free_monitoring_tool(tool);
  tool = -1;
  return false;
}

void remove_hook() {
  if (tool >= 0) free_monitoring_tool(tool);
  tool = -1;
}

void hook_new_threads() {}

void hook_new_libraries() {}

}  // namespace sonde::python

#endif
