#pragma once

#include "capture/python/line_table.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

// A copy of the code with a probe wherever a trace function would be told of a line. It may need
// one more place on the stack than the code does. nullptr, without an exception, where there can be
// none.
PyCodeObject* copy_with_probes(PyCodeObject* code, LineTable& table);

}  // namespace sonde::python

#endif
