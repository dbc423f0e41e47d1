#pragma once

// The interpreter's headers, and what differs between its versions.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

#include <cstdint>

static_assert(PY_VERSION_HEX >= 0x03090000, "the agent is for CPython 3.9 and newer");

namespace sonde::python {

// Events of sys.monitoring do without the frame objects that a profile function is given.
inline constexpr bool kHasMonitoring = PY_VERSION_HEX >= 0x030C0000;

// A borrowed reference; before 3.12, where each call needs it, without the calls and counts of
// PyFrame_GetCode().
inline PyCodeObject* code_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030C0000
  PyCodeObject* const code = PyFrame_GetCode(frame);
  Py_DECREF(code);  // the frame has a reference of its own
  return code;
#elif PY_VERSION_HEX >= 0x030B0000
  return frame->f_frame->f_code;
#else
  return frame->f_code;
#endif
}

// A type for objects that only the interpreter holds. True where it is ready already.
inline bool ready_type(PyTypeObject& type, const char* name, Py_ssize_t size, destructor drop) {
  if (type.tp_name) return true;
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
  type.tp_name = name;
  type.tp_basicsize = size;
  type.tp_dealloc = drop;
  type.tp_flags |= Py_TPFLAGS_DEFAULT;
  return PyType_Ready(&type) == 0;
}

// Owns one reference.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* object) : object_(object) {}
  ~Reference() { Py_XDECREF(object_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// What the program was about to raise is left as it was.
class KeepError {
 public:
#if PY_VERSION_HEX >= 0x030C0000
  KeepError() : error_(PyErr_GetRaisedException()) {}
  ~KeepError() { PyErr_SetRaisedException(error_); }
#else
  KeepError() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~KeepError() { PyErr_Restore(type_, value_, traceback_); }
#endif
  KeepError(const KeepError&) = delete;
  KeepError& operator=(const KeepError&) = delete;

 private:
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* error_;
#else
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
#endif
};

}  // namespace sonde::python
