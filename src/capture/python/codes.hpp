#pragma once

#include <cstdint>

#include "capture/python/interpreter.hpp"

// Numbers for code objects, builtins and stacks, with a row for each in the tables.

namespace sonde::python {

// Once, before anything else here. nullptr, or what went wrong, for the user.
const char* prepare_codes();

// The number of a code object's row; 0 where there is no room for one. The number lies in the code
// object itself, so that it dies with it.
std::uint32_t code_id(PyCodeObject* code);

// The number of a builtin function or method (PyCFunction), named as cProfile does; 0 for any other
// object. All that share one definition share the number.
std::uint32_t native_code_id(PyObject* callable);
// As above, of a method that is not bound to `self` yet. `self` and `module` may be nullptr.
std::uint32_t native_code_id(PyMethodDef* definition, PyObject* self, PyObject* module);

// The name of a builtin that has a number, "" of others.
const char* native_text(const PyMethodDef* definition);

// The number of a place in the tree of stacks, with its row; 0 where there is no room. `caller` is
// such a number as well, 0 for an outermost frame. Needs no interpreter lock.
std::uint32_t frame_id(std::uint32_t caller, std::uint32_t code, std::int32_t line);

// ---- Inside: what the hooks read without a call ------------------------------------------------

// What the interpreter keeps behind co_extra. The same since CPython 3.6; prepare_codes() checks
// it.
struct CodeExtras {
  Py_ssize_t size;
  void* values[1];
};

extern Py_ssize_t code_slot;

// A bit that no address has, generation and number of a code object; 0 where it has none.
inline constexpr std::uint64_t kMarkBit = std::uint64_t{1} << 63;
inline std::uint64_t code_mark(const PyCodeObject* code) {
  const auto* const extras = static_cast<const CodeExtras*>(code->co_extra);
  if (!extras || extras->size <= code_slot) return 0;
  return reinterpret_cast<std::uint64_t>(extras->values[code_slot]);
}

}  // namespace sonde::python
