#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "capture/python/codes.hpp"
#include "capture/python/hash_table.hpp"
#include "capture/python/line_table.hpp"
#include "capture/python/memory_library.hpp"
#include "capture/python/memory_resident.hpp"
#include "capture/python/module.hpp"
#include "capture/python/path_prefixes.hpp"
#include "capture/python/session.hpp"

// The process's memory after each line, as memory_profiler tells it: the value belongs to the line
// just left; a function's own line (its "def") has the calls, and at the first of them all memory
// that was there before; every other reading adds its difference from the reading before.

namespace sonde::python {
namespace {

// A reading costs a system call. In between, memory cannot have changed by much while fewer bytes
// than this were allocated and freed, and no more than a millisecond has passed.
constexpr std::uint64_t kWorthReading = 32 * 1024;
constexpr std::int64_t kOldNanos = 1'000'000;

// What is known of a code object. Chosen ones are held, so that the address stays theirs.
struct KnownCode {
  std::uint64_t hash;
  PyCodeObject* code;
  const PyObject* file;
  std::int32_t first_line;
  bool chosen;
  // What its lines are told under: the function that was named, for what is written inside of it.
  PyCodeObject* owner;
  bool seen;
  std::int64_t last;  // bytes at its last reading
};

struct Line {
  std::uint64_t hash;
  PyCodeObject* code;
  std::int32_t line;
  tables::MemoryLineRow* row;
};

// A call at work of a chosen code.
struct Activation {
  PyFrameObject* frame;
  std::int32_t line;  // the one being executed; 0 where it was begun before the recording
};
struct Stack {
  Activation* calls;
  std::size_t count;
  std::size_t capacity;
};

HashTable<KnownCode> codes;
HashTable<Line> lines;
PathPrefixes included;
PathPrefixes excluded;
bool traces = false;
bool by_prefix = false;
std::int64_t latest_bytes = 0;
std::int64_t latest_time = 0;
std::uint64_t latest_activity = 0;
pthread_key_t stack_key;
bool has_key = false;
PyObject* thread_hook = nullptr;

// Whoever traced before keeps its events. For each thread that is traced.
thread_local Py_tracefunc other_function = nullptr;
thread_local PyObject* other_object = nullptr;
thread_local Stack* own_stack = nullptr;

void free_stack(void* memory) {
  auto* const stack = static_cast<Stack*>(memory);
  free(stack->calls);
  free(stack);
}

Stack* stack_here() {
  if (own_stack) return own_stack;
  auto* const stack = static_cast<Stack*>(calloc(1, sizeof(Stack)));
  if (!stack) return nullptr;
  if (has_key) pthread_setspecific(stack_key, stack);
  return own_stack = stack;
}

bool push(Stack& stack, PyFrameObject* frame, std::int32_t line) {
  if (stack.count == stack.capacity) {
    const std::size_t wanted = stack.capacity ? stack.capacity * 2 : 64;
    auto* const calls = static_cast<Activation*>(realloc(stack.calls, wanted * sizeof(Activation)));
    if (!calls) return false;
    stack.calls = calls;
    stack.capacity = wanted;
  }
  stack.calls[stack.count++] = {frame, line};
  return true;
}

std::int64_t now_nanos() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t bytes_now() {
  const std::uint64_t activity = memory_library()->activity();
  const std::int64_t now = now_nanos();
  if (latest_bytes != 0 && now - latest_time < kOldNanos &&
      activity - latest_activity < kWorthReading) {
    return latest_bytes;
  }
  latest_bytes = resident_bytes();
  latest_activity = activity;
  latest_time = now;
  return latest_bytes;
}

bool chosen_by_prefix(const PyCodeObject* code) {
  if (!by_prefix) return false;
  Py_ssize_t size = 0;
  const char* const file = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (!file) {
    PyErr_Clear();
    return false;
  }
  const auto length = static_cast<std::size_t>(size);
  return included.has_one_of(file, length) && !excluded.has_one_of(file, length);
}

KnownCode* find_code(PyCodeObject* code) {
  return codes.find(mix(reinterpret_cast<std::uint64_t>(code)),
                    [&](const KnownCode& known) { return known.code == code; });
}

// nullptr where there is no memory.
KnownCode* known_code(PyCodeObject* code, PyCodeObject* owner) {
  const bool choose = owner != nullptr;
  if (!owner) owner = code;
  KnownCode* known = find_code(code);
  if (known && !known->chosen &&
      (choose || known->file != code->co_filename || known->first_line != code->co_firstlineno)) {
    known->file = code->co_filename;
    known->first_line = code->co_firstlineno;
    known->chosen = choose || chosen_by_prefix(code);
    known->owner = owner;
    if (known->chosen) Py_INCREF(code);
    return known;
  }
  if (known) return known;
  KnownCode fresh{};
  fresh.code = code;
  fresh.file = code->co_filename;
  fresh.first_line = code->co_firstlineno;
  fresh.chosen = choose || chosen_by_prefix(code);
  fresh.owner = owner;
  if (fresh.chosen) Py_INCREF(code);
  if (!codes.add(mix(reinterpret_cast<std::uint64_t>(code)), fresh)) return nullptr;
  return find_code(code);
}

tables::MemoryLineRow* row_of(KnownCode& code, std::int32_t line) {
  const std::uint64_t hash =
      mix(reinterpret_cast<std::uint64_t>(code.code) ^ static_cast<std::uint32_t>(line) * 0x9E37u);
  const Line* const known = lines.find(
      hash, [&](const Line& other) { return other.code == code.code && other.line == line; });
  if (known) return known->row;
  tables::MemoryLineRow fresh{};
  fresh.code = code_id(code.code);
  fresh.line = line;
  tables::MemoryLineRow* const row = writer().add(tables::Table::MemoryLine, fresh);
  if (row) lines.add(hash, {0, code.code, line, row});
  return row;
}

// The line has been executed.
void leave_line(KnownCode& code, std::int32_t line) {
  const std::int64_t bytes = bytes_now();
  if (line > 0) {
    tables::MemoryLineRow* const row = row_of(code, line);
    if (row) {
      ++row->hits;
      row->bytes = bytes;
      row->increment += code.seen ? bytes - code.last : bytes;
      if (bytes > row->peak) row->peak = bytes;
    }
    code.seen = true;
  }
  code.last = bytes;
}

void follow(PyFrameObject* frame, int what) {
  if (what != PyTrace_CALL && what != PyTrace_LINE && what != PyTrace_RETURN) return;
  KnownCode* code = known_code(own_code(code_of(frame)), nullptr);
  if (!code || !code->chosen) return;
  if (code->owner != code->code) code = find_code(code->owner);
  if (!code) return;
  Stack* const stack = stack_here();
  if (!stack) return;
  if (what == PyTrace_CALL) {
    push(*stack, frame, PyFrame_GetLineNumber(frame));
    return;
  }
  // Calls that ended without a word, as when another tracer took over for a while.
  std::size_t at = stack->count;
  while (at > 0 && stack->calls[at - 1].frame != frame) --at;
  if (at > 0) stack->count = at;
  if (at == 0 && !push(*stack, frame, 0)) return;
  Activation& call = stack->calls[stack->count - 1];
  leave_line(*code, call.line);
  if (what == PyTrace_RETURN) {
    --stack->count;
  } else {
    call.line = PyFrame_GetLineNumber(frame);
  }
}

int trace(PyObject*, PyFrameObject* frame, int what, PyObject* argument) {
  if (traces && session_runs()) follow(frame, what);
  if (!other_function) return 0;
  return other_function(other_object, frame, what, argument);
}

void trace_this_thread() {
  const PyThreadState* const thread = PyThreadState_Get();
  if (thread->c_tracefunc == trace) return;
  other_function = thread->c_tracefunc;
  other_object = thread->c_traceobj;
  Py_XINCREF(other_object);
  PyEval_SetTrace(trace, nullptr);
}

void untrace_this_thread() {
  if (PyThreadState_Get()->c_tracefunc != trace) return;
  PyEval_SetTrace(other_function, other_object);
  Py_XDECREF(other_object);
  other_function = nullptr;
  other_object = nullptr;
}

// What threading.settrace() calls at the first event of a new thread.
PyObject* begin_thread(PyObject*, PyObject*) {
  if (traces) {
    PyEval_SetTrace(nullptr, nullptr);
    trace_this_thread();
  }
  Py_RETURN_NONE;
}

PyMethodDef begin_thread_method = {"trace_thread", begin_thread, METH_VARARGS, nullptr};

void trace_new_threads(bool on) {
  const KeepError keep;
  const Reference threading(PyImport_ImportModule("threading"));
  if (threading) {
    if (!thread_hook) thread_hook = PyCFunction_New(&begin_thread_method, nullptr);
    const Reference current(PyObject_GetAttrString(threading.get(), "_trace_hook"));
    const bool is_ours = current && current.get() == thread_hook;
    const bool is_free = current && current.get() == Py_None;
    if (thread_hook && ((on && is_free) || (!on && is_ours))) {
      const Reference result(
          PyObject_CallMethod(threading.get(), "settrace", "O", on ? thread_hook : Py_None));
    }
  }
  PyErr_Clear();
}

void forget_codes() {
  codes.for_each([](const KnownCode& code) {
    if (code.chosen) Py_DECREF(code.code);
  });
  codes.clear();
  lines.clear();
}

// Rows, and what the process had, are the parent's. References stay: nothing may be freed here.
void begin_anew_in_child() {
  forget_resident_file();
  lines.clear();
  latest_bytes = 0;
  codes.for_each([](KnownCode& code) { code.seen = false; });
}

void stop_tracing() {
  if (!traces) return;
  traces = by_prefix = false;
  untrace_this_thread();
  trace_new_threads(false);
  memory_library()->watch(false);
  release_allocators();
  included.clear();
  excluded.clear();
  forget_codes();
}

// False with an exception set.
bool start_tracing() {
  if (!session_runs()) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: nothing is recorded: call start() first");
    return false;
  }
  if (traces) return true;
  if (!hold_allocators()) {
    PyErr_SetString(PyExc_OSError,
                    "sonde: libsonde_memory.so was not found beside libsonde.so; install it again");
    return false;
  }
  if (!has_key) has_key = pthread_key_create(&stack_key, free_stack) == 0;
  memory_library()->watch(true);
  at_stop(stop_tracing);
  at_fork_in_child(begin_anew_in_child);
  traces = true;
  latest_bytes = 0;
  trace_new_threads(true);
  return true;
}

PyObject* start_line_memory(PyObject*, PyObject* arguments, PyObject* keywords) {
  static char include_name[] = "include";
  static char exclude_name[] = "exclude";
  static char* names[] = {include_name, exclude_name, nullptr};
  PyObject* include = nullptr;
  PyObject* exclude = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:start_line_memory", names, &include,
                                   &exclude) ||
      !included.take(include) || !excluded.take(exclude) || !start_tracing()) {
    return nullptr;
  }
  by_prefix = true;
  trace_this_thread();
  Py_RETURN_NONE;
}

// With the comprehensions and functions inside of it, as memory_profiler does.
void choose(PyCodeObject* code, PyCodeObject* owner) {
  known_code(code, owner);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); ++i) {
    PyObject* const constant = PyTuple_GET_ITEM(code->co_consts, i);
    if (PyCode_Check(constant)) choose(reinterpret_cast<PyCodeObject*>(constant), owner);
  }
}

PyObject* add_memory_code(PyObject*, PyObject* code) {
  if (!PyCode_Check(code)) {
    PyErr_SetString(PyExc_TypeError, "sonde: add_memory_code() needs a code object");
    return nullptr;
  }
  if (!start_tracing()) return nullptr;
  choose(reinterpret_cast<PyCodeObject*>(code), reinterpret_cast<PyCodeObject*>(code));
  trace_this_thread();
  Py_RETURN_NONE;
}

PyObject* stop_line_memory(PyObject*, PyObject*) {
  stop_tracing();
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef line_memory_methods[] = {
    {"start_line_memory",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(start_line_memory)),
     METH_VARARGS | METH_KEYWORDS,
     "start_line_memory(include, exclude): the process's memory after each line of the code whose "
     "file name begins with one of `include` and with none of `exclude`."},
    {"add_memory_code", add_memory_code, METH_O,
     "add_memory_code(code): the same for this code, whatever its file."},
    {"stop_line_memory", stop_line_memory, METH_NOARGS, "Ends it."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
