#include "capture/python/module.hpp"

#include <limits.h>

#include "capture/python/codes.hpp"
#include "capture/python/session.hpp"
#include "sonde/sonde.h"

namespace sonde::python {
namespace {

constexpr std::size_t kMaxStopHandlers = 8;
StopHandler stop_handlers[kMaxStopHandlers];
std::size_t stop_handler_count = 0;

void tell_interpreter() {
  add_inherited_property("language", "Python");
  add_inherited_property("python.version", Py_GetVersion());
  add_inherited_property("python.implementation", "CPython");
}

// At the end of the interpreter, when the program's own exit functions have run.
bool stop_at_exit(PyObject* module) {
  static bool registered = false;
  if (!registered) registered = call_at_exit(module, "stop");
  return registered;
}

PyObject* start(PyObject* module, PyObject* arguments) {
  PyObject* folder = Py_None;
  if (!PyArg_ParseTuple(arguments, "|O:start", &folder)) return nullptr;
  PyObject* bytes = nullptr;
  if (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes)) return nullptr;
  const Reference holder(bytes);
  const bool fresh = !session_runs();
  const char* wrong = prepare_codes();
  if (!wrong) wrong = start_session(bytes ? PyBytes_AS_STRING(bytes) : nullptr);
  if (wrong) {
    PyErr_Format(PyExc_OSError, "sonde: %s", wrong);
    return nullptr;
  }
  if (fresh) tell_interpreter();
  if (!stop_at_exit(module)) return nullptr;
  char path[PATH_MAX];
  sonde_path(path, sizeof path);
  return PyUnicode_DecodeFSDefault(path);
}

PyObject* stop(PyObject*, PyObject*) {
  if (session_runs()) {
    for (std::size_t i = 0; i < stop_handler_count; ++i) stop_handlers[i]();
    stop_session();
  }
  Py_RETURN_NONE;
}

PyObject* running(PyObject*, PyObject*) { return PyBool_FromLong(session_runs()); }

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "sonde._agent",
                          "Sonde's recorder inside of the interpreter.",
                          -1,
                          session_methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMethodDef session_methods[] = {
    {"start", start, METH_VARARGS,
     "start(folder=None): begins to record, into SONDE_RUN_DIR without a folder; returns the path "
     "of the recording."},
    {"stop", stop, METH_NOARGS, "Ends the recording in order."},
    {"running", running, METH_NOARGS, "Whether this process is recorded."},
    {nullptr, nullptr, 0, nullptr}};

bool call_at_exit(PyObject* module, const char* function) {
  const Reference atexit(PyImport_ImportModule("atexit"));
  const Reference callable(PyObject_GetAttrString(module, function));
  if (!atexit || !callable) return false;
  const Reference result(PyObject_CallMethod(atexit.get(), "register", "O", callable.get()));
  return static_cast<bool>(result);
}

void at_stop(StopHandler handler) {
  for (std::size_t i = 0; i < stop_handler_count; ++i) {
    if (stop_handlers[i] == handler) return;
  }
  if (stop_handler_count < kMaxStopHandlers) stop_handlers[stop_handler_count++] = handler;
}

}  // namespace sonde::python

// One line for each part of the agent.
PyMODINIT_FUNC PyInit__agent() {
  using namespace sonde::python;
  PyMethodDef* const parts[] = {
      span_methods,        annotation_methods, function_methods, line_methods,    memory_methods,
      line_memory_methods, object_methods,     place_methods,    network_methods,
  };
  PyObject* const module = PyModule_Create(&definition);
  if (!module) return nullptr;
  for (PyMethodDef* const methods : parts) {
    if (PyModule_AddFunctions(module, methods) != 0) {
      Py_DECREF(module);
      return nullptr;
    }
  }
  return module;
}
