#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/python/line_probe.hpp"
#include "capture/python/lines.hpp"
#include "capture/python/rewrite/rewriter.hpp"
#include "capture/python/session.hpp"
#include "capture/python/thread_states.hpp"
#include "capture/python/trace_hook.hpp"

// CPython 3.11: where a trace function is set, every instruction takes a long way. So code that is
// recorded is run as a copy with probes in it, which a function in place of the interpreter's own
// (PEP 523) puts into each new frame. Frames that cannot have a copy, as those that were at work
// before the recording, are traced, they alone.

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

namespace sonde::python {
namespace {

constexpr int kMakesGenerator = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;

bool recording = false;
bool by_trace_hook = false;
bool installed =
    false;          // `evaluate` is what the interpreter calls, or somebody who came later does
bool deep = false;  // taken out for a while: the stack of a thread is nearly full
PyInterpreterState* interpreter = nullptr;
_PyFrameEvalFunction next = nullptr;
std::uint32_t traced_codes = 0;

PyObject* evaluate(PyThreadState* state, _PyInterpreterFrame* frame, int throwing);

bool has_probes(const PyCodeObject* code) {
  const LineTable* const table = table_of(code);
  return table && table->origin;
}

// The copy of recorded code; nullptr where there can be none.
PyCodeObject* copy_of(PyCodeObject* code, LineTable& table) {
  if (table.copy || table.refused) return table.copy;
  PyCodeObject* const copy = copy_with_probes(code, table);
  if (table.copy) {
    // What was collected meanwhile has run it.
    Py_XDECREF(copy);
    return table.copy;
  }
  if (copy && set_copy(table, copy)) return copy;
  Py_XDECREF(copy);
  table.refused = true;
  ++traced_codes;
  return nullptr;
}

// ---- Tracing of single frames -------------------------------------------------------------------

void settle_tracing(PyThreadState* state) {
  const bool traced = state->tracing == 0 && (state->c_tracefunc || state->c_profilefunc);
  state->cframe->use_tracing = traced ? 255 : 0;
}

bool needs_tracing(PyCodeObject* code) { return !has_probes(code) && line_table(code); }

bool has_traced_frame(const _PyInterpreterFrame* frame) {
  while (frame && !needs_tracing(frame->f_code)) frame = frame->previous;
  return frame != nullptr;
}

// What is at work already has no copy.
bool trace_running_frames() {
  return for_each_state([](PyThreadState* state) {
    return !has_traced_frame(state->cframe->current_frame) || trace_thread(state);
  });
}

// The frame and none that it calls.
PyObject* evaluate_traced(PyThreadState* state, _PyInterpreterFrame* frame, int throwing) {
  _PyCFrame* const caller = state->cframe;
  const std::uint8_t before = caller->use_tracing;
  {
    const KeepError keep;
    if (!trace_thread(state)) PyErr_Clear();
  }
  if (is_traced(state)) {
    caller->use_tracing = state->tracing == 0 ? 255 : 0;
  } else {
    interrupt_lines();
  }
  PyObject* const result = next(state, frame, throwing);
  {
    const KeepError keep;
    if (recording && !deep && is_traced(state) && !has_traced_frame(caller->current_frame)) {
      untrace_thread(state);
    }
  }
  if (is_traced(state) && !state->c_profilefunc) {
    caller->use_tracing = before;
  } else {
    settle_tracing(state);
  }
  return result;
}

// Any other frame, in a thread that has traced ones.
PyObject* evaluate_untraced(PyThreadState* state, _PyInterpreterFrame* frame, int throwing) {
  if (__builtin_expect(!is_traced(state), 1)) return next(state, frame, throwing);
  _PyCFrame* const caller = state->cframe;
  const std::uint8_t before = caller->use_tracing;
  if (!state->c_profilefunc && !deep) caller->use_tracing = 0;
  PyObject* const result = next(state, frame, throwing);
  if (is_traced(state) && !state->c_profilefunc) {
    caller->use_tracing = before;
  } else {
    settle_tracing(state);
  }
  return result;
}

// ---- Frames with probes -------------------------------------------------------------------------

// Calls of Python functions take the stack of the thread here, and do not without this function: it
// is taken out until this frame is left, and what it calls is traced.
__attribute__((noinline)) PyObject* evaluate_deep(PyThreadState* state, _PyInterpreterFrame* frame,
                                                  int throwing) {
  {
    const KeepError keep;
    deep = true;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, next);
    if (!install_trace_hook()) PyErr_Clear();
  }
  PyObject* const result = next(state, frame, throwing);
  if (!deep) return result;
  const KeepError keep;
  deep = false;
  remove_trace_hook();
  for_each_state([](PyThreadState* other) {
    for (_PyCFrame* at = other->cframe; at; at = at->previous) {
      at->use_tracing = other->tracing == 0 && other->c_profilefunc ? 255 : 0;
    }
    return true;
  });
  if (recording) {
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
    if (!trace_running_frames()) PyErr_Clear();
  }
  return result;
}

// Puts the copy into the new frame. False where the frame has no room for it.
bool put_copy(PyThreadState* state, _PyInterpreterFrame* frame, PyCodeObject* copy) {
  PyCodeObject* const code = frame->f_code;
  const int more = copy->co_stacksize - code->co_stacksize;
  if (more != 0) {
    // The frame is the last one on the interpreter's own stack: it may grow there. One place is
    // always left.
    PyObject** const end = reinterpret_cast<PyObject**>(frame) + FRAME_SPECIALS_SIZE +
                           code->co_nlocalsplus + code->co_stacksize;
    const bool can_grow = frame->owner == FRAME_OWNED_BY_THREAD && end == state->datastack_top &&
                          end + more <= state->datastack_limit;
    if (can_grow) {
      state->datastack_top += more;
    } else if (!(code->co_flags & kMakesGenerator)) {
      return false;
    }
  }
  Py_INCREF(copy);
  frame->f_code = copy;
  frame->prev_instr = _PyCode_CODE(copy) - 1;
  Py_DECREF(code);
  return true;
}

// A call that makes a generator does nothing else, and needs no stack. Its frame is copied into the
// generator, which is made in the size that the function's own code asks for.
PyObject* make_generator(PyThreadState* state, _PyInterpreterFrame* frame, PyCodeObject* code,
                         PyCodeObject* copy) {
  const int more = copy->co_stacksize - code->co_stacksize;
  Py_INCREF(code);
  put_copy(state, frame, copy);
  code->co_stacksize += more;
  PyObject* const generator = evaluate_untraced(state, frame, 0);
  code->co_stacksize -= more;
  Py_DECREF(code);
  return generator;
}

bool is_nearly_full(const LineThread& thread) {
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return here < thread.low && here >= thread.bottom;
}

PyObject* evaluate(PyThreadState* state, _PyInterpreterFrame* frame, int throwing) {
  if (!recording || state->interp != interpreter) return next(state, frame, throwing);
  LineThread* const thread = line_thread();
  if (!thread) return next(state, frame, throwing);
  if (__builtin_expect(is_nearly_full(*thread), 0) && !deep &&
      _PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate) {
    return evaluate_deep(state, frame, throwing);
  }
  PyCodeObject* const code = frame->f_code;
  LineTable* table = table_of(code);
  if (table && table->origin) {
    // A generator goes on.
    table = table->origin;
    if (!is_recorded(*table)) return evaluate_untraced(state, frame, throwing);
  } else {
    table = line_table(code);
    if (!table) return evaluate_untraced(state, frame, throwing);
    const bool is_new = !throwing && frame->prev_instr + 1 == _PyCode_CODE(code);
    PyCodeObject* const copy = is_new ? copy_of(code, *table) : nullptr;
    if (is_new && (code->co_flags & kMakesGenerator)) {
      return copy ? make_generator(state, frame, code, copy)
                  : evaluate_untraced(state, frame, throwing);
    }
    if (!copy || !put_copy(state, frame, copy)) return evaluate_traced(state, frame, throwing);
  }
  if (!push_frame(*thread, frame, *table)) return evaluate_untraced(state, frame, throwing);
  PyObject* const result = evaluate_untraced(state, frame, throwing);
  const std::uint64_t now = sonde_ticks();
  if (__builtin_expect(at_work(*thread, frame), 1) || find_activation(*thread, frame, now)) {
    leave_frame(*thread, now);
  }
  return result;
}

}  // namespace

const char* line_hook_name() {
  return by_trace_hook ? "trace function" : "probes in copies of the code";
}

bool install_line_hook() {
  const char* const wish = getenv("SONDE_PYTHON_LINES");
  PyInterpreterState* const here = PyInterpreterState_Get();
  // Somebody who has put in a function already may read code in frames: it is to be the program's.
  const _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(here);
  const bool is_taken = !installed && current != _PyEval_EvalFrameDefault;
  by_trace_hook = is_taken || (wish && strcmp(wish, "trace") == 0);
  if (by_trace_hook) return install_trace_hook();
  if (!prepare_probes()) return false;
  if (installed && interpreter != here) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: another interpreter of this process is recorded");
    return false;
  }
  deep = false;
  recording = true;
  turn_probes_on();
  // Where somebody came later and calls this function, it is there still.
  if (!installed) {
    interpreter = here;
    next = current;
    _PyInterpreterState_SetEvalFrameFunc(here, evaluate);
    installed = true;
  }
  if (trace_running_frames()) return true;
  remove_line_hook();
  return false;
}

void remove_line_hook() {
  const KeepError keep;
  remove_trace_hook();
  if (by_trace_hook) return;
  turn_probes_off();
  recording = false;
  if (deep || _PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate) {
    if (!deep) _PyInterpreterState_SetEvalFrameFunc(interpreter, next);
    installed = false;
  }
  deep = false;
  if (traced_codes == 0) return;
  char text[120];
  snprintf(text, sizeof text, "%u code object%s recorded by a trace function", traced_codes,
           traced_codes == 1 ? " was" : "s were");
  add_property("python.lines.traced", text);
  traced_codes = 0;
}

bool watch_code(PyCodeObject*) { return true; }

void end_traced_frame(PyFrameObject* frame) {
  if (!recording || deep) return;
  const KeepError keep;
  PyThreadState* const state = PyThreadState_Get();
  if (!has_traced_frame(frame->f_frame->previous)) untrace_thread(state);
}

PyObject* line_copy(PyCodeObject* code) {
  if (!prepare_probes()) return nullptr;
  LineTable* const table = line_table(code);
  PyObject* const copy =
      table ? reinterpret_cast<PyObject*>(copy_of(code, *table)) : static_cast<PyObject*>(nullptr);
  if (!copy) Py_RETURN_NONE;
  Py_INCREF(copy);
  return copy;
}

}  // namespace sonde::python

#endif
