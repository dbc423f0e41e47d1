#include "capture/python/monitoring.hpp"

#if PY_VERSION_HEX >= 0x030C0000

#include <cstddef>
#include <initializer_list>

namespace sonde::python {
namespace {

struct Callback {
  PyObject_HEAD vectorcallfunc function;
};

void drop_callback(PyObject* object) { PyObject_Free(object); }

PyTypeObject callback_type{};

bool prepare_type() {
  callback_type.tp_vectorcall_offset = offsetof(Callback, function);
  callback_type.tp_call = PyVectorcall_Call;
  callback_type.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  return ready_type(callback_type, "sonde._agent.Callback", sizeof(Callback), drop_callback);
}

PyObject* make_callback(vectorcallfunc function) {
  Callback* const callback = PyObject_New(Callback, &callback_type);
  if (callback) callback->function = function;
  return reinterpret_cast<PyObject*>(callback);
}

// A borrowed reference to sys.monitoring.
PyObject* monitoring() { return PySys_GetObject("monitoring"); }

}  // namespace

PyObject* monitoring_value(const char* name) {
  PyObject* const module = monitoring();
  if (!module) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: sys.monitoring is missing");
    return nullptr;
  }
  return PyObject_GetAttrString(module, name);
}

int take_monitoring_tool(const char* name) {
  // Debuggers, coverage, profilers and optimizers have numbers of their own.
  for (const int tool : {3, 4, 5, 1, 0}) {
    const Reference holder(PyObject_CallMethod(monitoring(), "get_tool", "i", tool));
    if (!holder) return -1;
    if (holder.get() != Py_None) continue;
    const Reference done(PyObject_CallMethod(monitoring(), "use_tool_id", "is", tool, name));
    return done ? tool : -1;
  }
  PyErr_SetString(PyExc_RuntimeError, "sonde: all tool numbers of sys.monitoring are in use");
  return -1;
}

bool set_monitoring_callbacks(int tool, const MonitoringCallback* callbacks, std::size_t count,
                              std::size_t everywhere) {
  if (!prepare_type()) return false;
  long all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const long event = monitoring_events({callbacks[i].event});
    const Reference callback(make_callback(callbacks[i].function));
    if (event < 0 || !callback) return false;
    const Reference old(
        PyObject_CallMethod(monitoring(), "register_callback", "ilO", tool, event, callback.get()));
    if (!old) return false;
    // Those of builtins come with CALL, and cannot be asked for.
    const char* const name = callbacks[i].event;
    if (i < everywhere && (name[0] != 'C' || name[1] != '_')) all |= event;
  }
  const Reference done(PyObject_CallMethod(monitoring(), "set_events", "il", tool, all));
  return static_cast<bool>(done);
}

long monitoring_events(std::initializer_list<const char*> names) {
  const Reference events(monitoring_value("events"));
  if (!events) return -1;
  long all = 0;
  for (const char* const name : names) {
    const Reference event(PyObject_GetAttrString(events.get(), name));
    const long bit = event ? PyLong_AsLong(event.get()) : -1;
    if (bit < 0) return -1;
    all |= bit;
  }
  return all;
}

bool set_local_monitoring(int tool, PyObject* code, long events) {
  const Reference done(
      PyObject_CallMethod(monitoring(), "set_local_events", "iOl", tool, code, events));
  return static_cast<bool>(done);
}

void free_monitoring_tool(int tool) {
  const KeepError keep;
  const Reference done(PyObject_CallMethod(monitoring(), "set_events", "ii", tool, 0));
  if (!done) PyErr_Clear();
  const Reference events(monitoring_value("events"));
  for (const char* const name : {"PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD",
                                 "PY_UNWIND", "CALL", "C_RETURN", "C_RAISE", "LINE", "JUMP"}) {
    const Reference event(events ? PyObject_GetAttrString(events.get(), name) : nullptr);
    if (!event) {
      PyErr_Clear();
      continue;
    }
    const Reference old(
        PyObject_CallMethod(monitoring(), "register_callback", "iOO", tool, event.get(), Py_None));
    if (!old) PyErr_Clear();
  }
  const Reference freed(PyObject_CallMethod(monitoring(), "free_tool_id", "i", tool));
  if (!freed) PyErr_Clear();
}

}  // namespace sonde::python

#endif
