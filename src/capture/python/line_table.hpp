#pragma once

#include "capture/python/interpreter.hpp"
#include "sonde/sonde.h"
#include "trace/tables/format.hpp"

// Hits and time of lines. A line's time goes on until the next line of the same frame, or until the
// frame is left: what the line calls is in it. Sums are of all threads together; they change under
// the interpreter's lock only.

namespace sonde::python {

// The lines of a code object. Lies in a slot of the code object and dies with it.
struct LineTable {
  tables::LineRow** rows;
  std::int32_t first;  // line of rows[0]
  std::uint32_t count;
  std::uint32_t code;
  std::uint32_t generation;  // that the rows belong to; 0: none yet
  std::uint32_t round;       // of `choose_lines` that `included` was found out in
  bool included;
  bool always;  // whatever the prefixes say
  // CPython 3.11: a copy of the code with probes in it is run in its place. The copy has a table of
  // its own, which has nothing but an origin.
  std::uint32_t references;  // of the code object, of its copy and of the probes in that
  PyCodeObject* owner;       // the code object; nullptr when it has died
  PyCodeObject* copy;
  LineTable* origin;
  bool refused;  // it can have no copy
  // Of those that have events of their own turned on.
  PyCodeObject* watched;
  LineTable* previous;
  LineTable* next;
};

// A frame of recorded code that is at work.
struct LineActivation {
  const void* frame;
  LineTable* table;
  tables::LineRow* row;  // the line at work
  std::uint64_t start;
};

struct LineThread {
  LineActivation* top;
  LineActivation* base;  // stands below all frames
  LineActivation* end;
  bool unused;  // its thread has ended
  // Of the thread's stack, where that is known: below `low` there is little left.
  const char* low;
  const char* bottom;
  LineThread* next;
};

// Once, before anything else here. nullptr, or what went wrong, for the user.
const char* prepare_lines();
// Which files are recorded: of all prefixes that a file begins with the longest one decides. False
// where there is no memory.
bool choose_lines(PyObject* include, PyObject* exclude);
// Records that code, whatever its file. False with an exception set.
bool choose_code(PyCodeObject* code);

// The table of recorded code, nullptr of other code.
LineTable* line_table(PyCodeObject* code);

// The table of the code object, recorded or not; nullptr: none yet.
LineTable* table_of(const PyCodeObject* code);
// Whether code of this table is recorded; for code that may have died already.
bool is_recorded(LineTable& table);
// Makes `copy` the copy of the table's code. Takes the reference over. False without memory.
bool set_copy(LineTable& table, PyCodeObject* copy);
void release_table(LineTable* table);
// The program's own code object, of a copy; any other code object itself.
PyCodeObject* own_code(PyCodeObject* code);

// Keeps account of code that has events of its own turned on.
void note_watched(PyCodeObject* code);
// The next code of those, which is none of them any more; nullptr at the end.
PyCodeObject* take_watched();

// The slow ways.
LineThread* make_line_thread();
bool push_frame(LineThread& thread, const void* frame, LineTable& table);
tables::LineRow* line_row(LineTable& table, std::int32_t line);
// Where the activations are not those that are expected: the one of `frame`, after what stands
// above it was ended. nullptr: there is none.
LineActivation* find_activation(LineThread& thread, const void* frame, std::uint64_t now);
// Ends the lines at work in all threads, as if their frames were left now.
void finish_lines();

extern __thread LineThread* own_line_thread __attribute__((tls_model("initial-exec")));

inline LineThread* line_thread() {
  LineThread* const thread = own_line_thread;
  return __builtin_expect(thread != nullptr, 1) ? thread : make_line_thread();
}

// Whether the frame is the innermost of those at work.
inline bool at_work(const LineThread& thread, const void* frame) {
  return thread.top->frame == frame;
}

inline void begin_line(LineThread& thread, std::int32_t line, std::uint64_t now) {
  LineActivation& activation = *thread.top;
  if (activation.row) activation.row->ticks += now - activation.start;
  LineTable& table = *activation.table;
  const auto index = static_cast<std::uint32_t>(line - table.first);
  tables::LineRow* row = index < table.count ? table.rows[index] : nullptr;
  if (__builtin_expect(!row, 0)) row = line_row(table, line);
  activation.row = row;
  activation.start = now;
  if (row) ++row->hits;
}

inline void leave_frame(LineThread& thread, std::uint64_t now) {
  LineActivation& activation = *thread.top--;
  if (activation.row) activation.row->ticks += now - activation.start;
}

}  // namespace sonde::python
