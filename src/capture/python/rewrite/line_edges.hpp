#pragma once

#include "capture/python/rewrite/code_reader.hpp"

// Where a trace function would be told of a line. The interpreter tells of an instruction whose
// line is another one than that of the instruction executed before it, and of a jump back: so it
// depends on the way by which an instruction is reached.

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

struct LineEdge {
  bool probe;              // some way to this instruction is to be told of
  bool skipped;            // but not the one from the instruction before it
  bool jump_is_told;       // the jump of this instruction is to be told of
  bool exception_is_told;  // the way from this instruction to its handler is
  // This one begins a handler, and it depends on the place that the handler is given whether the
  // way to it is to be told of.
  bool depends_on_place;
};

struct LineEdges {
  Buffer<LineEdge> edges;  // one for each instruction
  int more_stack = 0;      // probes stand where the stack may be full: so many places more
};

// False where it cannot be told beforehand, or where nothing may be inserted.
bool find_line_edges(PyCodeObject* code, const CodeBody& body, LineEdges& out);

}  // namespace sonde::python

#endif
