#include "capture/python/line_table.hpp"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "capture/python/codes.hpp"
#include "capture/python/session.hpp"

namespace sonde::python {

__thread LineThread* own_line_thread __attribute__((tls_model("initial-exec")));

namespace {

constexpr std::size_t kFewFrames = 64;
constexpr std::size_t kSpareStack = 512 * 1024;

struct Prefix {
  char* text;
  std::size_t size;
  bool include;
};

// Where there is no room in the file, sums go nowhere. The loss was counted.
tables::LineRow lost_line;

Py_ssize_t line_slot = -1;
Prefix* prefixes = nullptr;
std::size_t prefix_count = 0;
std::uint32_t round_of_prefixes = 1;
char folder_at_start[PATH_MAX];
LineThread* line_threads = nullptr;
pthread_key_t end_of_thread;

LineTable* first_watched = nullptr;

void forget_watched(LineTable& table) {
  if (!table.watched) return;
  (table.previous ? table.previous->next : first_watched) = table.next;
  if (table.next) table.next->previous = table.previous;
  table.watched = nullptr;
}

void drop_table(void* value) {
  auto* const table = static_cast<LineTable*>(value);
  if (!table) return;
  forget_watched(*table);
  PyCodeObject* const copy = table->copy;
  LineTable* const origin = table->origin;
  table->owner = table->copy = nullptr;
  table->origin = nullptr;
  release_table(table);
  if (origin) release_table(origin);
  Py_XDECREF(copy);
}

// Half a megabyte is kept for what C code calls, of a small stack half.
void measure_stack(LineThread& thread) {
  thread.low = thread.bottom = nullptr;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* address = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
    thread.bottom = static_cast<const char*>(address);
    thread.low = thread.bottom + (size / 2 < kSpareStack ? size / 2 : kSpareStack);
  }
  pthread_attr_destroy(&attributes);
}

void give_thread_back(void* value) {
  __atomic_store_n(&static_cast<LineThread*>(value)->unused, true, __ATOMIC_RELEASE);
}

// In a child only this thread is left; its frames at work belong to the parent's recording.
void begin_anew_in_child() {
  for (LineThread* thread = line_threads; thread; thread = thread->next) {
    thread->top = thread->base;
    if (thread != own_line_thread) thread->unused = true;
  }
}

LineTable* make_table(PyCodeObject* code) {
  if (LineTable* const known = table_of(code)) return known;
  auto* const table = static_cast<LineTable*>(calloc(1, sizeof(LineTable)));
  if (!table) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
  const int failed = PyUnstable_Code_SetExtra(reinterpret_cast<PyObject*>(code), line_slot, table);
#else
  const int failed = _PyCode_SetExtra(reinterpret_cast<PyObject*>(code), line_slot, table);
#endif
  if (!failed) {
    table->references = 1;
    table->owner = code;
    return table;
  }
  PyErr_Clear();
  free(table);
  return nullptr;
}

// Folders end at their names' ends: "/a/b" is no prefix of "/a/bc.py".
bool begins_with(const char* path, std::size_t size, const Prefix& prefix) {
  if (size < prefix.size || memcmp(path, prefix.text, prefix.size) != 0) return false;
  return size == prefix.size || prefix.size == 0 || prefix.text[prefix.size - 1] == '/' ||
         path[prefix.size] == '/';
}

bool is_included(PyCodeObject* code) {
  Py_ssize_t size = 0;
  const char* const file = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (!file) {
    PyErr_Clear();
    return false;
  }
  if (size == 0 || file[0] == '<') return false;
  char path[PATH_MAX];
  const std::size_t folder = file[0] == '/' ? 0 : strlen(folder_at_start);
  if (folder + static_cast<std::size_t>(size) + 2 > sizeof path) return false;
  memcpy(path, folder_at_start, folder);
  memcpy(path + folder, file, static_cast<std::size_t>(size) + 1);
  const Prefix* longest = nullptr;
  for (std::size_t i = 0; i < prefix_count; ++i) {
    if (!begins_with(path, folder + static_cast<std::size_t>(size), prefixes[i])) continue;
    // Of two that are the same, the one that leaves the file out.
    if (!longest || prefixes[i].size > longest->size ||
        (prefixes[i].size == longest->size && !prefixes[i].include)) {
      longest = &prefixes[i];
    }
  }
  return longest && longest->include;
}

bool add_prefixes(PyObject* list, bool include) {
  const Py_ssize_t count = PySequence_Size(list);
  if (count < 0) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Reference item(PySequence_GetItem(list, i));
    if (!item) return false;
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(item.get(), &size);
    if (!text) return false;
    char* const copy = strdup(text);
    void* const longer = realloc(prefixes, (prefix_count + 1) * sizeof(Prefix));
    if (longer) prefixes = static_cast<Prefix*>(longer);
    if (!copy || !longer) {
      free(copy);
      PyErr_NoMemory();
      return false;
    }
    prefixes[prefix_count++] = {copy, static_cast<std::size_t>(size), include};
  }
  return true;
}

}  // namespace

LineTable* table_of(const PyCodeObject* code) {
  const auto* const extras = static_cast<const CodeExtras*>(code->co_extra);
  if (!extras || line_slot < 0 || extras->size <= line_slot) return nullptr;
  return static_cast<LineTable*>(extras->values[line_slot]);
}

void release_table(LineTable* table) {
  if (--table->references != 0) return;
  free(table->rows);
  free(table);
}

bool is_recorded(LineTable& table) {
  if (table.owner) return line_table(table.owner) != nullptr;
  return table.included && table.round == round_of_prefixes && table.generation == generation;
}

bool set_copy(LineTable& table, PyCodeObject* copy) {
  LineTable* const own = make_table(copy);
  if (!own) return false;
  own->origin = &table;
  ++table.references;
  table.copy = copy;
  return true;
}

PyCodeObject* own_code(PyCodeObject* code) {
  const LineTable* const table = table_of(code);
  return table && table->origin && table->origin->owner ? table->origin->owner : code;
}

const char* prepare_lines() {
  if (line_slot >= 0) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
  line_slot = PyUnstable_Eval_RequestCodeExtraIndex(drop_table);
#else
  line_slot = _PyEval_RequestCodeExtraIndex(drop_table);
#endif
  if (line_slot < 0) return "the interpreter has no room for lines in code objects";
  if (pthread_key_create(&end_of_thread, give_thread_back) != 0) {
    return "the process has no thread-specific data left";
  }
  at_fork_in_child(begin_anew_in_child);
  return nullptr;
}

bool choose_lines(PyObject* include, PyObject* exclude) {
  for (std::size_t i = 0; i < prefix_count; ++i) free(prefixes[i].text);
  prefix_count = 0;
  ++round_of_prefixes;
  // Names of files may be relative to where the program was started.
  if (!getcwd(folder_at_start, sizeof folder_at_start - 1)) folder_at_start[0] = 0;
  strcat(folder_at_start, "/");
  return add_prefixes(include, true) && add_prefixes(exclude, false);
}

bool choose_code(PyCodeObject* code) {
  LineTable* const table = make_table(code);
  if (!table) {
    PyErr_NoMemory();
    return false;
  }
  table->always = true;
  table->round = 0;
  return true;
}

LineTable* line_table(PyCodeObject* code) {
  LineTable* const table = make_table(code);
  if (!table) return nullptr;
  if (table->round != round_of_prefixes) {
    const KeepError keep;
    table->included = table->always || is_included(code);
    table->round = round_of_prefixes;
  }
  if (!table->included) return nullptr;
  if (table->generation != generation) {
    free(table->rows);
    table->rows = nullptr;
    table->count = 0;
    table->first = code->co_firstlineno;
    table->code = code_id(code);
    table->generation = generation;
  }
  return table;
}

void note_watched(PyCodeObject* code) {
  LineTable* const table = make_table(code);
  if (!table || table->watched) return;
  table->watched = code;
  table->previous = nullptr;
  table->next = first_watched;
  if (first_watched) first_watched->previous = table;
  first_watched = table;
}

PyCodeObject* take_watched() {
  if (!first_watched) return nullptr;
  PyCodeObject* const code = first_watched->watched;
  forget_watched(*first_watched);
  return code;
}

LineThread* make_line_thread() {
  LineThread* thread = line_threads;
  while (thread && !__atomic_load_n(&thread->unused, __ATOMIC_ACQUIRE)) thread = thread->next;
  if (!thread) {
    thread = static_cast<LineThread*>(calloc(1, sizeof(LineThread)));
    auto* const room = static_cast<LineActivation*>(calloc(kFewFrames, sizeof(LineActivation)));
    if (!thread || !room) {
      free(thread);
      free(room);
      return nullptr;
    }
    thread->base = room;
    thread->end = room + kFewFrames;
    thread->next = line_threads;
    line_threads = thread;
  }
  thread->top = thread->base;
  thread->unused = false;
  measure_stack(*thread);
  own_line_thread = thread;
  pthread_setspecific(end_of_thread, thread);
  return thread;
}

bool push_frame(LineThread& thread, const void* frame, LineTable& table) {
  if (thread.top + 1 == thread.end) {
    const auto room = static_cast<std::size_t>(thread.end - thread.base);
    const auto depth = thread.top - thread.base;
    void* const longer = realloc(thread.base, 2 * room * sizeof(LineActivation));
    if (!longer) return false;
    thread.base = static_cast<LineActivation*>(longer);
    thread.top = thread.base + depth;
    thread.end = thread.base + 2 * room;
  }
  *++thread.top = {frame, &table, nullptr, 0};
  return true;
}

tables::LineRow* line_row(LineTable& table, std::int32_t line) {
  std::int32_t first = table.first;
  std::int32_t end = first + static_cast<std::int32_t>(table.count);
  if (line < first || line >= end) {
    first = line < first ? line : first;
    end = line >= end ? line + 16 : end;
    const auto count = static_cast<std::uint32_t>(end - first);
    // The numbers of lines come from the program: a jump over millions of lines has no place here.
    if (count > 10'000'000) return nullptr;
    auto** const rows = static_cast<tables::LineRow**>(calloc(count, sizeof(void*)));
    if (!rows) return nullptr;
    if (table.count != 0) {
      memcpy(rows + (table.first - first), table.rows, table.count * sizeof(void*));
    }
    free(table.rows);
    table.rows = rows;
    table.first = first;
    table.count = count;
  }
  tables::LineRow*& row = table.rows[line - table.first];
  if (!row) {
    if (table.code != 0) {
      row = writer().add(tables::Table::Line, tables::LineRow{table.code, line, 0, 0, 0, 0});
    }
    if (!row) row = &lost_line;
  }
  return row;
}

LineActivation* find_activation(LineThread& thread, const void* frame, std::uint64_t now) {
  const LineActivation* found = thread.top;
  while (found != thread.base && found->frame != frame) --found;
  if (found == thread.base) return nullptr;
  while (thread.top != found) leave_frame(thread, now);
  return thread.top;
}

void finish_lines() {
  const std::uint64_t now = sonde_ticks();
  for (LineThread* thread = line_threads; thread; thread = thread->next) {
    while (thread->top != thread->base) leave_frame(*thread, now);
  }
}

}  // namespace sonde::python
