#pragma once

#include "capture/python/interpreter.hpp"
#include "capture/python/rewrite/buffer.hpp"

// The bytecode of CPython 3.11 as instructions, with what its tables say of each.

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

// -1: none.
struct Location {
  int line = -1;
  int end_line = -1;
  int column = -1;
  int end_column = -1;
};

struct Instruction {
  int start;  // its first unit, where its EXTENDED_ARGs begin
  int unit;   // the instruction itself
  int caches;
  std::uint8_t opcode;
  std::uint32_t argument;
  int target;   // instruction that it may jump to; -1: none
  int handler;  // entry of the exception table that it lies in; -1: none
  Location location;
};

// An entry of the exception table; `target` is an instruction.
struct Handler {
  int target;
  int depth;  // of the stack below what the handler gets
  bool keeps_place;
};

struct CodeBody {
  Buffer<Instruction> instructions;
  Buffer<Handler> handlers;
  int first_traceable = 0;  // instruction, the first RESUME
};

// False where there is anything unusual in it. No exception is set.
bool read_code(PyCodeObject* code, CodeBody& body);

bool is_jump(int opcode);
bool is_backward_jump(int opcode);
// Whether the instruction behind it may come next without a jump.
bool falls_through(int opcode);

}  // namespace sonde::python

#endif
