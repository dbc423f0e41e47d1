#include "capture/python/lines.hpp"

#include "capture/python/module.hpp"
#include "capture/python/session.hpp"

namespace sonde::python {
namespace {

bool recording = false;

void stop_recording() {
  if (!recording) return;
  recording = false;
  remove_line_hook();
  finish_lines();
}

bool prepare() {
  const char* const wrong = prepare_lines();
  if (wrong) PyErr_Format(PyExc_RuntimeError, "sonde: %s", wrong);
  return !wrong;
}

PyObject* start_lines(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"include", "exclude", nullptr};
  PyObject* include = nullptr;
  PyObject* exclude = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:start_lines", const_cast<char**>(names),
                                   &include, &exclude)) {
    return nullptr;
  }
  if (!session_runs()) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: start() comes first");
    return nullptr;
  }
  if (recording) Py_RETURN_NONE;
  if (!prepare() || !choose_lines(include, exclude)) return nullptr;
  at_stop(stop_recording);
  add_inherited_property("python.lines", "hits and time of each line");
  recording = true;
  if (!install_line_hook()) {
    recording = false;
    return nullptr;
  }
  add_inherited_property("python.lines.hook", line_hook_name());
  Py_RETURN_NONE;
}

PyObject* add_line_code(PyObject*, PyObject* code) {
  if (!PyCode_Check(code)) {
    PyErr_SetString(PyExc_TypeError, "add_line_code() needs a code object");
    return nullptr;
  }
  auto* const object = reinterpret_cast<PyCodeObject*>(code);
  if (!prepare() || !choose_code(object)) return nullptr;
  if (recording && !watch_code(object)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* line_code(PyObject*, PyObject* code) {
  if (!PyCode_Check(code)) {
    PyErr_SetString(PyExc_TypeError, "line_code() needs a code object");
    return nullptr;
  }
  auto* const object = reinterpret_cast<PyCodeObject*>(code);
  return prepare() && choose_code(object) ? line_copy(object) : nullptr;
}

PyObject* stop_lines(PyObject*, PyObject*) {
  stop_recording();
  Py_RETURN_NONE;
}

}  // namespace

void interrupt_lines() {
  add_property("python.lines.interrupted",
               "recording interrupted: the program set a trace function of its own");
  static sonde_name marker = SONDE_NAME_INIT("Python line recording interrupted");
  sonde_marker(&marker, nullptr, 't');
}

PyMethodDef line_methods[] = {
    {"start_lines", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(start_lines)),
     METH_VARARGS | METH_KEYWORDS,
     "start_lines(include, exclude): records hits and time of the lines of files below these "
     "paths; the longest one decides."},
    {"add_line_code", add_line_code, METH_O, "Records the lines of that code, whatever its file."},
    {"line_code", line_code, METH_O,
     "line_code(code): records the lines of that code, and tells the code object that is run in "
     "its "
     "place; None where it is run itself."},
    {"stop_lines", stop_lines, METH_NOARGS, "Ends the recording of lines."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
