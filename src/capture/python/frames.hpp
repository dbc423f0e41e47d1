#pragma once

#include <cstdint>

#include "capture/python/interpreter.hpp"
#if PY_VERSION_HEX >= 0x030C0000
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#endif
#undef Py_BUILD_CORE
#endif

// The frames of the calling thread, read in place: without a call that allocates, counts a
// reference or wants the interpreter's lock. A thread's own frames do not change while it is inside
// of a native call, whether it holds the lock or has let it go.

namespace sonde::python {

#if PY_VERSION_HEX >= 0x030B0000
using Frame = _PyInterpreterFrame;

inline const Frame* top_frame(const PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame;
#else
  return thread->cframe ? thread->cframe->current_frame : nullptr;
#endif
}

inline const Frame* caller_of(const Frame* frame) { return frame->previous; }

// nullptr for a frame that only marks a call from C, or that is not begun.
inline const PyCodeObject* code_in(const Frame* frame) {
  auto* const open = const_cast<Frame*>(frame);
#if PY_VERSION_HEX >= 0x030E0000
  PyObject* const code = PyStackRef_AsPyObjectBorrow(open->f_executable);
#elif PY_VERSION_HEX >= 0x030D0000
  PyObject* const code = open->f_executable;
#else
  PyObject* const code = reinterpret_cast<PyObject*>(open->f_code);
#endif
  if (!code || !PyCode_Check(code) || _PyFrame_IsIncomplete(open)) return nullptr;
  return reinterpret_cast<const PyCodeObject*>(code);
}

inline std::int32_t instruction_of(const Frame* frame) {
  auto* const open = const_cast<Frame*>(frame);
  return static_cast<std::int32_t>(_PyInterpreterFrame_LASTI(open)) *
         static_cast<std::int32_t>(sizeof(_Py_CODEUNIT));
}

// Another number for each instruction of each code object that lives: where the instruction lies.
inline std::uint64_t instruction_key(const Frame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return reinterpret_cast<std::uint64_t>(frame->instr_ptr);
#else
  return reinterpret_cast<std::uint64_t>(frame->prev_instr);
#endif
}
#else
using Frame = PyFrameObject;

inline const Frame* top_frame(const PyThreadState* thread) { return thread->frame; }
inline const Frame* caller_of(const Frame* frame) { return frame->f_back; }
inline const PyCodeObject* code_in(const Frame* frame) { return frame->f_code; }

inline std::int32_t instruction_of(const Frame* frame) {
#if PY_VERSION_HEX >= 0x030A0000
  return frame->f_lasti * static_cast<std::int32_t>(sizeof(_Py_CODEUNIT));
#else
  return frame->f_lasti;
#endif
}

// Addresses of code objects leave 16 bits above and 4 below.
inline std::uint64_t instruction_key(const Frame* frame) {
  return reinterpret_cast<std::uint64_t>(frame->f_code) << 16 ^
         static_cast<std::uint32_t>(frame->f_lasti);
}
#endif

}  // namespace sonde::python
