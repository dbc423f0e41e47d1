#pragma once

#include "capture/python/rewrite/line_edges.hpp"

// Writes bytecode and its tables with probes in it. A probe is an object among the constants: it
// records when it is asked whether it is true, or whether a place is in it. The stack and all jumps
// are as they were.

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

struct Assembly {
  Buffer<unsigned char> code;
  Buffer<unsigned char> locations;
  Buffer<unsigned char> handlers;
};

// `constant_of(line)` is the index of the constant that is the probe of that line.
struct ProbeConstants {
  int first_line = 0;
  Buffer<int> index;
  int of(int line) const { return index[line - first_line]; }
};

bool assemble(PyCodeObject* code, const CodeBody& body, const LineEdges& edges,
              const ProbeConstants& probes, Assembly& out);

}  // namespace sonde::python

#endif
