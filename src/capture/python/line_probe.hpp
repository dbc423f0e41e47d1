#pragma once

#include "capture/python/line_table.hpp"

// CPython 3.11: an object that records its line when it is asked whether it is true, which it is,
// or whether a place is in it.

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

namespace sonde::python {

// Once, before anything else here. False with an exception set.
bool prepare_probes();
// A new reference; nullptr with an exception set.
PyObject* new_probe(LineTable& table, std::int32_t line);
bool is_probe(PyObject* object);

// Probes record from now on, into the recording that runs; or not any more.
void turn_probes_on();
void turn_probes_off();

}  // namespace sonde::python

#endif
