#include "capture/python/lines.hpp"

// From CPython 3.12 on: events of sys.monitoring in the code that is recorded, and none in other
// code. As a trace function sees it: a line, and a jump back to the same line.

#if PY_VERSION_HEX >= 0x030C0000

#include "capture/python/monitoring.hpp"
#include "capture/python/thread_states.hpp"

namespace sonde::python {
namespace {

int tool = -1;
PyObject* disable = nullptr;
long local_events = 0;

const void* current_frame() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_Get()->current_frame;
#else
  return PyThreadState_Get()->cframe->current_frame;
#endif
}

PyObject* never_again() {
  Py_INCREF(disable);
  return disable;
}

// CPython 3.13 leaves the line out that a function begins on, unless its beginning has an event.
constexpr bool kNeedsStarts = PY_VERSION_HEX >= 0x030D0000;

// The first call of each code object: its lines are watched, or it is left alone.
PyObject* on_start(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  auto* const code = reinterpret_cast<PyCodeObject*>(arguments[0]);
  const LineTable* const table = line_table(code);
  if (!table) return never_again();
  if (!table->watched && !watch_code(code)) return nullptr;
  if (!kNeedsStarts) return never_again();
  Py_RETURN_NONE;
}

PyObject* on_resume(PyObject*, PyObject* const*, std::size_t, PyObject*) { Py_RETURN_NONE; }

bool enter_frame(LineThread& thread, PyObject* code) {
  const void* const frame = current_frame();
  if (at_work(thread, frame)) return true;
  LineTable* const table = line_table(reinterpret_cast<PyCodeObject*>(code));
  return table && push_frame(thread, frame, *table);
}

PyObject* on_line(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  const std::uint64_t now = sonde_ticks();
  LineThread* const thread = line_thread();
  if (thread && enter_frame(*thread, arguments[0])) {
    begin_line(*thread, static_cast<std::int32_t>(PyLong_AsLong(arguments[1])), now);
  }
  Py_RETURN_NONE;
}

// A jump back to the line that it comes from: a trace function sees that line again.
PyObject* on_jump(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) {
  const std::uint64_t now = sonde_ticks();
  const long from = PyLong_AsLong(arguments[1]);
  const long to = PyLong_AsLong(arguments[2]);
  if (to > from) return never_again();
  auto* const code = reinterpret_cast<PyCodeObject*>(arguments[0]);
  const int line = PyCode_Addr2Line(code, static_cast<int>(to));
  if (line != PyCode_Addr2Line(code, static_cast<int>(from))) return never_again();
  LineThread* const thread = line_thread();
  if (thread && enter_frame(*thread, arguments[0])) begin_line(*thread, line, now);
  Py_RETURN_NONE;
}

PyObject* on_leave(PyObject*, PyObject* const*, std::size_t, PyObject*) {
  LineThread* const thread = line_thread();
  if (thread && at_work(*thread, current_frame())) leave_frame(*thread, sonde_ticks());
  Py_RETURN_NONE;
}

// What is at work already has had its first call.
bool watch_running_code() {
  return for_each_state([](PyThreadState* state) {
    PyFrameObject* frame = PyThreadState_GetFrame(state);
    bool done = true;
    while (frame && done) {
      PyCodeObject* const code = PyFrame_GetCode(frame);
      done = !line_table(code) || watch_code(code);
      Py_DECREF(code);
      PyFrameObject* const caller = PyFrame_GetBack(frame);
      Py_DECREF(frame);
      frame = caller;
    }
    Py_XDECREF(frame);
    return done;
  });
}

}  // namespace

bool watch_code(PyCodeObject* code) {
  note_watched(code);
  return set_local_monitoring(tool, reinterpret_cast<PyObject*>(code), local_events);
}

bool install_line_hook() {
  if (!disable && !(disable = monitoring_value("DISABLE"))) return false;
  const MonitoringCallback callbacks[] = {
      {"PY_START", on_start},  {"PY_UNWIND", on_leave}, {"LINE", on_line},        {"JUMP", on_jump},
      {"PY_RETURN", on_leave}, {"PY_YIELD", on_leave},  {"PY_RESUME", on_resume},
  };
  tool = take_monitoring_tool("sonde lines");
  if (tool < 0) return false;
  local_events = monitoring_events({"LINE", "JUMP", "PY_RETURN", "PY_YIELD"});
  if (kNeedsStarts && local_events >= 0) {
    local_events |= monitoring_events({"PY_START", "PY_RESUME"});
  }
  // Events that were turned off for good at some places, of an earlier recording.
  const Reference restarted(
      PyObject_CallMethod(PySys_GetObject("monitoring"), "restart_events", nullptr));
  if (local_events >= 0 && restarted && set_monitoring_callbacks(tool, callbacks, 7, 2) &&
      watch_running_code()) {
    return true;
  }
  remove_line_hook();
  return false;
}

const char* line_hook_name() { return "sys.monitoring"; }
PyObject* line_copy(PyCodeObject*) { Py_RETURN_NONE; }

void remove_line_hook() {
  if (tool < 0) return;
  const KeepError keep;
  while (PyCodeObject* const code = take_watched()) {
    if (!set_local_monitoring(tool, reinterpret_cast<PyObject*>(code), 0)) PyErr_Clear();
  }
  free_monitoring_tool(tool);
  tool = -1;
}

}  // namespace sonde::python

#endif
