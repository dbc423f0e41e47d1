#include <stdlib.h>

#include "capture/python/memory_library.hpp"
#include "capture/python/memory_stack.hpp"
#include "capture/python/module.hpp"
#include "capture/python/session.hpp"

// What each line allocates: the library counts, the interpreter's stacks say where.

namespace sonde::python {
namespace {

bool counts = false;

// What `sonde run` asked for, else the usual gap.
unsigned long long usual_gap() {
  const char* const text = getenv("SONDE_MEMORY_LINES");
  if (!text || !*text) return memory::kDefaultGap;
  char* end = nullptr;
  const unsigned long long gap = strtoull(text, &end, 10);
  return *end == 0 ? gap : memory::kDefaultGap;
}

void pause() {
  if (!counts) return;
  counts = false;
  // First the rows: what the allocators free from here on is not part of the program's run.
  memory_library()->pause();
  release_allocators();
}

// Also where the preloaded library counts by itself.
void finish() {
  pause();
  if (const memory::Interface* const library = memory_library()) library->finish();
}

PyObject* start_memory_lines(PyObject*, PyObject* arguments, PyObject* keywords) {
  static char gap_name[] = "gap";
  static char exact_name[] = "exact";
  static char* names[] = {gap_name, exact_name, nullptr};
  unsigned long long gap = usual_gap();
  int exact = gap == 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|Kp:start_memory_lines", names, &gap,
                                   &exact)) {
    return nullptr;
  }
  if (gap == 0 || gap > (1ull << 40)) {
    if (!exact) {
      PyErr_SetString(PyExc_ValueError, "sonde: gap must be a number of bytes from 1 to 2**40");
      return nullptr;
    }
    gap = 0;
  }
  if (!session_runs()) {
    PyErr_SetString(PyExc_RuntimeError, "sonde: nothing is recorded: call start() first");
    return nullptr;
  }
  if (counts) Py_RETURN_NONE;
  const memory::Interface* const library = memory_library();
  if (!library) {
    PyErr_SetString(PyExc_OSError,
                    "sonde: libsonde_memory.so was not found beside libsonde.so; install it again");
    return nullptr;
  }
  at_stop(finish);
  library->start(&memory_source, exact ? 0 : gap);
  hold_allocators();
  counts = true;
  Py_RETURN_NONE;
}

PyObject* stop_memory_lines(PyObject*, PyObject*) {
  pause();
  Py_RETURN_NONE;
}

PyObject* memory_totals(PyObject*, PyObject*) {
  memory::Totals totals{};
  if (const memory::Interface* const library = memory_library()) library->totals(&totals);
  return Py_BuildValue("{sKsKsLsLsK}", "samples", static_cast<unsigned long long>(totals.samples),
                       "allocated_bytes", static_cast<unsigned long long>(totals.allocated_bytes),
                       "live_bytes", static_cast<long long>(totals.live_bytes), "peak_bytes",
                       static_cast<long long>(totals.peak_bytes), "lost_samples",
                       static_cast<unsigned long long>(totals.lost));
}

}  // namespace

PyMethodDef memory_methods[] = {
    {"start_memory_lines",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(start_memory_lines)),
     METH_VARARGS | METH_KEYWORDS,
     "start_memory_lines(gap=524288, exact=False): counts what each line allocates, by samples one "
     "for every `gap` bytes on average, or every allocation."},
    {"stop_memory_lines", stop_memory_lines, METH_NOARGS,
     "Ends it; what is live now stays live in the recording."},
    {"memory_totals", memory_totals, METH_NOARGS,
     "What is counted so far: samples, allocated, live and peak bytes."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
