#pragma once

#include <cstddef>
#include <initializer_list>

#include "capture/python/interpreter.hpp"

// sys.monitoring, from C: there is no other way to it than the functions that Python code uses.

#if PY_VERSION_HEX >= 0x030C0000

namespace sonde::python {

struct MonitoringCallback {
  const char* event;
  vectorcallfunc function;
};

// A new reference to an attribute of sys.monitoring.
PyObject* monitoring_value(const char* name);
// The number of a tool that nobody has; -1 with an exception set.
int take_monitoring_tool(const char* name);
// Registers the callbacks, and turns the events of the first `everywhere` of them on in all code.
// False with an exception set.
bool set_monitoring_callbacks(int tool, const MonitoringCallback* callbacks, std::size_t count,
                              std::size_t everywhere);
// The events as one set; -1 with an exception set.
long monitoring_events(std::initializer_list<const char*> names);
// Turns events on in that code alone. False with an exception set.
bool set_local_monitoring(int tool, PyObject* code, long events);
// Turns all its events off. Errors are dropped.
void free_monitoring_tool(int tool);

}  // namespace sonde::python

#endif
