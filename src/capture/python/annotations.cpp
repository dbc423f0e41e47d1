#include <string.h>

#include "capture/python/module.hpp"
#include "capture/python/scope_stack.hpp"
#include "sonde/sonde.h"

// What a program says of itself: scopes, counters, markers, steps.

namespace sonde::python {
namespace {

__thread ScopeStack scopes __attribute__((tls_model("initial-exec")));

// A category by its text; domains live as long as the process.
struct Domain {
  Domain* next;
  sonde_domain domain;
};
Domain* domains = nullptr;

sonde_domain* domain_of(const char* text) {
  if (!text || !*text) return nullptr;
  for (Domain* domain = domains; domain; domain = domain->next) {
    if (strcmp(domain->domain.text, text) == 0) return &domain->domain;
  }
  auto* const fresh = static_cast<Domain*>(malloc(sizeof(Domain)));
  char* const copy = strdup(text);
  if (!fresh || !copy) {
    free(fresh);
    free(copy);
    return nullptr;
  }
  *fresh = {domains, SONDE_DOMAIN_INIT(copy)};
  domains = fresh;
  return &fresh->domain;
}

PyObject* begin(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", "kind", "domain", nullptr};
  const char* name = nullptr;
  const char* domain = nullptr;
  int kind = SONDE_KIND_RANGE;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s|iz:begin", const_cast<char**>(names),
                                   &name, &kind, &domain)) {
    return nullptr;
  }
  if (kind < 1 || kind > 255) {
    PyErr_SetString(PyExc_ValueError, "kind must be between 1 and 255");
    return nullptr;
  }
  if (!scopes.begin(sonde_intern(name), domain_of(domain), static_cast<sonde_kind>(kind))) {
    return PyErr_NoMemory();
  }
  Py_RETURN_NONE;
}

PyObject* end(PyObject*, PyObject*) {
  if (!scopes.end()) {
    PyErr_SetString(PyExc_RuntimeError, "end() without begin() on this thread");
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* counter(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", "value", "domain", nullptr};
  const char* name = nullptr;
  PyObject* value = nullptr;
  const char* domain = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sO|z:counter", const_cast<char**>(names),
                                   &name, &value, &domain)) {
    return nullptr;
  }
  sonde_counter counter = SONDE_COUNTER_INIT(name, domain_of(domain));
  if (PyLong_Check(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (number == -1 && PyErr_Occurred()) return nullptr;
    if (overflow == 0) {
      sonde_counter_set(&counter, number);
      Py_RETURN_NONE;
    }
  }
  const double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) return nullptr;
  sonde_counter_set_f64(&counter, number);
  Py_RETURN_NONE;
}

PyObject* marker(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", "domain", "scope", nullptr};
  const char* name = nullptr;
  const char* domain = nullptr;
  const char* scope = "t";
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s|zs:marker", const_cast<char**>(names),
                                   &name, &domain, &scope)) {
    return nullptr;
  }
  if (strlen(scope) != 1 || !strchr("tpg", *scope)) {
    PyErr_SetString(PyExc_ValueError, "scope must be 't', 'p' or 'g'");
    return nullptr;
  }
  sonde_name text = SONDE_NAME_INIT(name);
  sonde_marker(&text, domain_of(domain), *scope);
  Py_RETURN_NONE;
}

PyObject* step(PyObject*, PyObject*) {
  sonde_step();
  Py_RETURN_NONE;
}

PyObject* last_step(PyObject*, PyObject*) {
  sonde_last_step();
  Py_RETURN_NONE;
}

PyObject* name_thread(PyObject*, PyObject* name) {
  const char* const text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  sonde_name_thread(text);
  Py_RETURN_NONE;
}

PyObject* flush(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS;
  sonde_flush();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyCFunction with_keywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

PyMethodDef annotation_methods[] = {
    {"begin", with_keywords(begin), METH_VARARGS | METH_KEYWORDS,
     "begin(name, kind=4, domain=None): begins a scope of this thread."},
    {"end", end, METH_NOARGS, "Ends the scope that was begun last on this thread."},
    {"counter", with_keywords(counter), METH_VARARGS | METH_KEYWORDS,
     "counter(name, value, domain=None): the value of a counter now."},
    {"marker", with_keywords(marker), METH_VARARGS | METH_KEYWORDS,
     "marker(name, domain=None, scope='t'): a moment of the thread, the process ('p') or all "
     "('g')."},
    {"step", step, METH_NOARGS, "Ends the running step and begins the next one."},
    {"last_step", last_step, METH_NOARGS, "Ends the running step and begins none."},
    {"name_thread", name_thread, METH_O, "Names the calling thread."},
    {"flush", flush, METH_NOARGS,
     "Sees to it that everything so far survives a crash of the machine."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
