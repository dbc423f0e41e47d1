#include <limits.h>

#include "capture/python/module.hpp"
#include "sonde/sonde.h"

// Scopes that somebody holds: they may end in any order, which those of begin() and end() may not.

namespace sonde::python {
namespace {

struct Span {
  PyObject_HEAD sonde_scope scope;
  bool apart;  // not nested with the slices of its thread
};

PyTypeObject* span_type = nullptr;

void free_span(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

bool make_type() {
  if (span_type) return true;
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(free_span)}, {0, nullptr}};
  static PyType_Spec spec = {"sonde._agent.Span", sizeof(Span), 0, Py_TPFLAGS_DEFAULT, slots};
  span_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return span_type != nullptr;
}

// The text of a str, of anything else what str() says of it. What has no UTF-8 is replaced.
class Text {
 public:
  explicit Text(PyObject* object) {
    if (!object || object == Py_None) return;
    const KeepError keep;
    if (PyUnicode_Check(object) && (text_ = PyUnicode_AsUTF8(object))) return;
    PyErr_Clear();
    const Reference plain(PyObject_Str(object));
    if (plain) bytes_ = PyUnicode_AsEncodedString(plain.get(), "utf-8", "replace");
    if (bytes_) text_ = PyBytes_AS_STRING(bytes_);
    PyErr_Clear();
  }
  ~Text() { Py_XDECREF(bytes_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  const char* get() const { return text_; }

 private:
  const char* text_ = nullptr;
  PyObject* bytes_ = nullptr;
};

PyObject* begin_span(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "begin_span(name, kind, domain, apart)");
    return nullptr;
  }
  if (!sonde_enabled()) Py_RETURN_NONE;
  const long kind = PyLong_AsLong(arguments[1]);
  if (kind == -1 && PyErr_Occurred()) return nullptr;
  const int apart = PyObject_IsTrue(arguments[3]);
  if (apart < 0 || !make_type()) return nullptr;
  Span* const span = PyObject_New(Span, span_type);
  if (!span) return nullptr;
  const Text name_text(arguments[0]);
  const Text domain_text(arguments[2]);
  sonde_name name = SONDE_NAME_INIT(name_text.get() ? name_text.get() : "");
  sonde_domain domain = SONDE_DOMAIN_INIT(domain_text.get());
  sonde_domain* const category = domain.text && *domain.text ? &domain : nullptr;
  span->apart = apart != 0;
  if (span->apart) {
    sonde_task_start(&span->scope, &name, category);
  } else {
    sonde_begin(&span->scope, &name, category,
                kind > 0 && kind < 256 ? static_cast<sonde_kind>(kind) : SONDE_KIND_RANGE);
  }
  return reinterpret_cast<PyObject*>(span);
}

void add_argument(sonde_arguments& out, PyObject* key, PyObject* value) {
  const Text name(key);
  if (!name.get()) return;
  if (PyFloat_Check(value)) {
    sonde_add_f64(&out, name.get(), PyFloat_AS_DOUBLE(value));
    return;
  }
  if (PyLong_Check(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
      sonde_add_i64(&out, name.get(), number);
      return;
    }
  }
  const Text text(value);
  sonde_add_text(&out, name.get(), text.get() ? text.get() : "None");
}

PyObject* end_span(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !span_type || !Py_IS_TYPE(arguments[0], span_type)) {
    PyErr_SetString(PyExc_TypeError, "end_span(span, arguments)");
    return nullptr;
  }
  Span& span = *reinterpret_cast<Span*>(arguments[0]);
  if (PyDict_Check(arguments[1]) && span.scope.start != 0) {
    sonde_arguments list;
    sonde_no_arguments(&list);
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(arguments[1], &at, &key, &value);) {
      add_argument(list, key, value);
    }
    if (span.apart) {
      sonde_task_stop_with(&span.scope, &list);
    } else {
      sonde_end_with(&span.scope, &list);
    }
  } else if (span.apart) {
    sonde_task_stop(&span.scope);
  } else {
    sonde_end(&span.scope);
  }
  span.scope.start = 0;
  Py_RETURN_NONE;
}

// The recorder may be at work without the agent: under `sonde run`, which samples from outside.
PyObject* recording(PyObject*, PyObject*) { return PyBool_FromLong(sonde_enabled()); }

PyObject* path(PyObject*, PyObject*) {
  char text[PATH_MAX];
  if (!sonde_path(text, sizeof text)) Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(text);
}

PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

PyMethodDef span_methods[] = {
    {"begin_span", fast(begin_span), METH_FASTCALL,
     "begin_span(name, kind, domain, apart): a scope that ends with end_span(), in any order; None "
     "while nothing records. apart: it is not nested with the slices of this thread."},
    {"end_span", fast(end_span), METH_FASTCALL,
     "end_span(span, arguments): ends it, with a dict of arguments or None."},
    {"recording", recording, METH_NOARGS, "Whether what the program says of itself is recorded."},
    {"path", path, METH_NOARGS, "The file that the recorder writes; None while there is none."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
