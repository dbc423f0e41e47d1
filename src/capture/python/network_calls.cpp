#include "capture/python/frames.hpp"
#include "capture/python/hash_table.hpp"
#include "capture/python/module.hpp"
#include "capture/python/monitoring.hpp"
#include "capture/python/scope_stack.hpp"

// The calls of a network's modules (torch.nn.Module) as slices. The program's modules get no hooks:
// torch takes another way through its code where there are some, warns of them, and cannot compile
// what they call. From CPython 3.12 on the interpreter tells of each call of the one function that
// they all come through, before that the package wraps it.

namespace sonde::python {
namespace {

struct Named {
  std::uint64_t hash;
  const void* network;
  std::uint32_t name;  // 0: it died
};

HashTable<Named> names;
PyObject* namer = nullptr;  // (module, is it called by another one): names it by name_network()
__thread ScopeStack running __attribute__((tls_model("initial-exec")));

Named* find(const void* network) {
  return names.find(mix(reinterpret_cast<std::uint64_t>(network)),
                    [&](const Named& named) { return named.network == network; });
}

std::uint32_t name_of(PyObject* network) {
  const Named* named = find(network);
  if (__builtin_expect(named && named->name != 0, 1)) return named->name;
  const KeepError keep;
  const Reference done(
      PyObject_CallFunction(namer, "OO", network, running.empty() ? Py_False : Py_True));
  if (!done) PyErr_Clear();
  named = find(network);
  return named ? named->name : 0;
}

void enter(PyObject* network) {
  if (namer) running.begin(name_of(network), nullptr, SONDE_KIND_MODULE);
}

// For the recorder of operators, which calls with or without the interpreter's lock.
std::uint64_t network_began() { return running.began(); }

PyObject* network_start(PyObject*, PyObject*) {
  return PyLong_FromVoidPtr(reinterpret_cast<void*>(network_began));
}

PyObject* name_network(PyObject*, PyObject* arguments) {
  PyObject* network = nullptr;
  const char* text = nullptr;
  if (!PyArg_ParseTuple(arguments, "Os:name_network", &network, &text)) return nullptr;
  const std::uint32_t name = sonde_intern(text);
  if (Named* const named = find(network)) {
    named->name = name;
  } else if (!names.add(mix(reinterpret_cast<std::uint64_t>(network)), {0, network, name})) {
    return PyErr_NoMemory();
  }
  Py_RETURN_NONE;
}

PyObject* forget_network(PyObject*, PyObject* id) {
  const void* const network = PyLong_AsVoidPtr(id);
  if (!network && PyErr_Occurred()) return nullptr;
  if (Named* const named = find(network)) named->name = 0;
  Py_RETURN_NONE;
}

PyObject* enter_network(PyObject*, PyObject* network) {
  enter(network);
  Py_RETURN_NONE;
}

PyObject* leave_network(PyObject*, PyObject*) {
  running.end();
  Py_RETURN_NONE;
}

#if PY_VERSION_HEX >= 0x030C0000

PyObject* watched = nullptr;

// The first argument of the function that the calling thread is in; nullptr where it has none.
PyObject* first_argument(PyObject* code) {
  const Frame* const frame = top_frame(PyThreadState_Get());
  if (!frame || reinterpret_cast<const PyObject*>(code_in(frame)) != code) return nullptr;
#if PY_VERSION_HEX >= 0x030E0000
  PyObject* const value = PyStackRef_AsPyObjectBorrow(frame->localsplus[0]);
#else
  PyObject* const value = frame->localsplus[0];
#endif
  // Functions inside of it use it as well.
  return value && PyCell_Check(value) ? PyCell_GET(value) : value;
}

PyObject* on_start(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  if (PyObject* const network = first_argument(arguments[0])) enter(network);
  Py_RETURN_NONE;
}

PyObject* on_leave(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  if (arguments[0] == watched) running.end();
  Py_RETURN_NONE;
}

bool watch(PyObject* code) {
  const MonitoringCallback callbacks[] = {
      {"PY_UNWIND", on_leave}, {"PY_START", on_start}, {"PY_RETURN", on_leave}};
  const int tool = take_monitoring_tool("sonde modules");
  if (tool < 0) return false;
  const long events = monitoring_events({"PY_START", "PY_RETURN"});
  Py_INCREF(code);
  watched = code;
  if (events >= 0 && set_monitoring_callbacks(tool, callbacks, 3, 1) &&
      set_local_monitoring(tool, code, events)) {
    return true;
  }
  free_monitoring_tool(tool);
  return false;
}

#else

bool watch(PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError, "sys.monitoring comes with CPython 3.12");
  return false;
}

#endif

PyObject* watch_networks(PyObject*, PyObject* arguments) {
  PyObject* code = nullptr;
  PyObject* function = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO:watch_networks", &code, &function)) return nullptr;
  if (namer || (code != Py_None && !PyCode_Check(code))) {
    PyErr_SetString(PyExc_ValueError, "watch_networks() is for one code object, once");
    return nullptr;
  }
  if (code != Py_None && !watch(code)) return nullptr;
  Py_INCREF(function);
  namer = function;
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef network_methods[] = {
    {"watch_networks", watch_networks, METH_VARARGS,
     "watch_networks(code, namer): calls of that code are calls of its first argument, a network's "
     "module, and are recorded; None where enter_network() and leave_network() tell of them. "
     "namer(module, inside) names one that is new."},
    {"network_start", network_start, METH_NOARGS,
     "The address of a function in C, `uint64_t began(void)`: when the outermost call at work on "
     "the calling thread began, in ticks; 0 where there is none."},
    {"name_network", name_network, METH_VARARGS, "name_network(module, name)"},
    {"forget_network", forget_network, METH_O, "forget_network(id): the module died."},
    {"enter_network", enter_network, METH_O, "A call of that module begins on this thread."},
    {"leave_network", leave_network, METH_NOARGS, "The call that began last ends."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
