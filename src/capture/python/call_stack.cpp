#include "capture/python/call_stack.hpp"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/python/functions.hpp"
#include "capture/python/hash_table.hpp"
#include "capture/python/session.hpp"

namespace sonde::python {

CallOptions call_options;

// Memory of a thread, given back as a whole.
struct Arena {
  Arena* older;
  std::size_t used;
  char data[64 * 1024 - 16];
};

struct FunctionEntry {
  std::uint64_t hash;
  std::uint32_t code;
  Function* function;
};

struct FunctionIndex {
  HashTable<FunctionEntry> table;
};

namespace {

constexpr std::size_t kFewActivations = 100;
constexpr std::uint32_t kNameTries = 32;
// Bytes of slots; larger ones are allocated by themselves.
constexpr std::size_t kMostInArena = 16 * 1024;

// Where there is no room in the file, sums go nowhere. The loss was counted.
tables::FunctionRow lost_function;
tables::CallRow lost_call;

void* allocate(Thread& thread, std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  if (bytes > sizeof(Arena::data)) return nullptr;
  if (!thread.arena || thread.arena->used + bytes > sizeof(Arena::data)) {
    auto* const fresh = static_cast<Arena*>(malloc(sizeof(Arena)));
    if (!fresh) return nullptr;
    fresh->older = thread.arena;
    fresh->used = 0;
    thread.arena = fresh;
  }
  void* const at = thread.arena->data + thread.arena->used;
  thread.arena->used += bytes;
  return at;
}

void init_function(Function& function, std::uint32_t code) {
  memset(static_cast<void*>(&function), 0, sizeof function);
  function.code = code;
  function.slots = function.first_slots;
  function.shift = 62;
}

void put(Function& caller, std::uint64_t key, Call* call) {
  const std::uint64_t mask = (std::uint64_t{1} << (64 - caller.shift)) - 1;
  std::uint64_t i = key * 0x9E37'79B9'7F4A'7C15u >> caller.shift;
  while (caller.slots[i].key != 0) i = (i + 1) & mask;
  caller.slots[i] = {key, call};
}

// One slot stays empty at least: a search ends there.
bool make_slot(Thread& thread, Function& caller) {
  const std::uint64_t count = std::uint64_t{1} << (64 - caller.shift);
  if ((caller.calls + 1) * 4 <= count * 3) return true;
  const std::size_t bytes = 2 * count * sizeof(CallSlot);
  auto* const slots =
      static_cast<CallSlot*>(bytes <= kMostInArena ? allocate(thread, bytes) : malloc(bytes));
  if (!slots) return false;
  memset(static_cast<void*>(slots), 0, bytes);
  CallSlot* const old = caller.slots;
  caller.slots = slots;
  --caller.shift;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (old[i].key != 0) put(caller, old[i].key, old[i].call);
  }
  if (count * sizeof(CallSlot) > kMostInArena) free(old);
  return true;
}

// Threads of the program are known by the names that it gave to them. The table of its threads has
// this one only some calls after its beginning.
void try_name(Thread& thread) {
  if (thread.name_tries >= kNameTries) return;
  ++thread.name_tries;
  const KeepError keep;
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const threading = modules ? PyDict_GetItemString(modules, "threading") : nullptr;
  if (!threading || !PyModule_Check(threading)) return;
  PyObject* const active = PyDict_GetItemString(PyModule_GetDict(threading), "_active");
  const Reference number(PyLong_FromUnsignedLong(PyThread_get_thread_ident()));
  if (!number || !active || !PyDict_Check(active)) return PyErr_Clear();
  PyObject* const entry = PyDict_GetItem(active, number.get());
  const Reference name(entry ? PyObject_GetAttrString(entry, "_name") : nullptr);
  const char* const text =
      name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  PyErr_Clear();
  if (!text) return;
  thread.name_tries = kNameTries;
  writer().add(tables::Table::Thread, tables::ThreadRow{thread.id, text_id(text, strlen(text))});
  // The main thread goes by the program's name.
  if (strcmp(text, "MainThread") != 0) sonde_name_thread(text);
}

// As torch names Python functions: "file.py(12): name".
std::uint64_t timeline_word(PyCodeObject* code, const char* native_name) {
  char name[1024];
  if (code) {
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) PyErr_Clear();
#if PY_VERSION_HEX >= 0x030B0000
    const char* function = PyUnicode_AsUTF8(code->co_qualname);
#else
    const char* function = PyUnicode_AsUTF8(code->co_name);
#endif
    if (!function) PyErr_Clear();
    snprintf(name, sizeof name, "%s(%d): %s", file ? file : "?", code->co_firstlineno,
             function ? function : "?");
    native_name = name;
  }
  const std::uint32_t id = sonde_intern(native_name);
  return id == 0 ? 0 : sonde_word_(id, 0, 1, SONDE_KIND_PYTHON_FUNCTION);
}

Function* function_of(Thread& thread, std::uint32_t code) {
  if (!thread.index) thread.index = static_cast<FunctionIndex*>(calloc(1, sizeof(FunctionIndex)));
  if (!thread.index) return nullptr;
  const std::uint64_t hash = mix(code);
  const FunctionEntry* const known =
      thread.index->table.find(hash, [&](const FunctionEntry& e) { return e.code == code; });
  if (known) return known->function;
  auto* const function = static_cast<Function*>(allocate(thread, sizeof(Function)));
  if (!function) return nullptr;
  init_function(*function, code);
  function->row = &lost_function;
  // Without a row of its own the code has no name: its sums mean nothing.
  if (code != 0) {
    const tables::FunctionRow row{code, thread.id, 0, 0, 0, 0};
    if (tables::FunctionRow* const place = writer().add(tables::Table::Function, row)) {
      function->row = place;
    }
  }
  return thread.index->table.add(hash, {0, code, function}) ? function : nullptr;
}

Call* add_call(Thread& thread, std::uint32_t code, std::uint64_t key, PyCodeObject* object,
               PyMethodDef* definition) {
  adopt_thread(thread);
  hook_new_libraries();
  if (thread.id == 0) thread.id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  try_name(thread);
  Function& caller = const_cast<Function&>(caller_of(thread));
  Function* const callee = function_of(thread, code);
  auto* const call = static_cast<Call*>(allocate(thread, sizeof(Call)));
  if (!callee || !call || !make_slot(thread, caller)) return nullptr;
  if (call_options.timeline && callee->word == 0) {
    const KeepError keep;
    callee->word = timeline_word(object, definition ? native_text(definition) : nullptr);
  }
  *call = {};
  call->callee = callee;
  call->key = key;
  const tables::CallRow row{caller.code, code, thread.id, 0, 0, 0, 0, 0};
  memcpy(&call->pair, &row.caller, sizeof call->pair);
  call->row = code != 0 ? writer().add(tables::Table::Call, row) : nullptr;
  if (!call->row) call->row = &lost_call;
  // A builtin whose definition was freed, where another one lies now: the new one takes its slot.
  if (definition) {
    call->name = definition->ml_name;
    const std::uint64_t mask = (std::uint64_t{1} << (64 - caller.shift)) - 1;
    for (std::uint64_t i = key * 0x9E37'79B9'7F4A'7C15u >> caller.shift; caller.slots[i].key != 0;
         i = (i + 1) & mask) {
      if (caller.slots[i].key == key) {
        caller.slots[i].call = call;
        return call;
      }
    }
  }
  put(caller, key, call);
  ++caller.calls;
  return call;
}

bool is_from(PyObject* module, const char* name) {
  return module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, name) == 0;
}

std::uint32_t flags_of(const PyMethodDef* definition, PyObject* module) {
  const char* const name = definition->ml_name;
  if (is_from(module, "posix") &&
      (strcmp(name, "_exit") == 0 || strcmp(name, "execv") == 0 || strcmp(name, "execve") == 0)) {
    return kEndsProcess;
  }
  if (is_from(module, "_thread") &&
      (strcmp(name, "start_new_thread") == 0 || strcmp(name, "start_new") == 0 ||
       strcmp(name, "start_joinable_thread") == 0)) {
    return kStartsThread;
  }
  return 0;
}

void drop_memory(Thread& thread) {
  if (thread.index) {
    thread.index->table.for_each([](const FunctionEntry& entry) {
      const Function& function = *entry.function;
      const std::uint64_t bytes = (std::uint64_t{1} << (64 - function.shift)) * sizeof(CallSlot);
      if (bytes > kMostInArena) free(function.slots);
    });
    thread.index->table.clear();
    free(thread.index);
  }
  while (Arena* const arena = thread.arena) {
    thread.arena = arena->older;
    free(arena);
  }
  if (thread.own_memory) free(thread.base);
}

}  // namespace

void init_thread(Thread& thread) {
  thread.arena = nullptr;
  thread.index = nullptr;
  thread.own_memory = false;
  thread.outside_call = {};
  thread.outside_call.callee = &thread.outside;
  thread.none = {};
  thread.none.writer = reinterpret_cast<std::uint64_t>(&thread.outside_call);
  thread.top = thread.base = &thread.none;
  thread.end = thread.base + 1;
  init_function(thread.outside, 0);
}

void finish_calls(Thread& thread) {
  const std::uint64_t now = sonde_ticks();
  while (thread.top != thread.base) leave_top(thread, now);
}

void reset_thread(Thread& thread) {
  drop_memory(thread);
  init_thread(thread);
  thread.id = 0;
  thread.name_tries = 0;
}

Call* add_code_call(Thread& thread, PyCodeObject* code) {
  const std::uint32_t id = code_id(code);
  const std::uint64_t key = code_mark(code) | kMarkBit;
  if (key == kMarkBit) return nullptr;
  // Just marked: the key that was looked for may have been void.
  if (Call* const call = find_call(caller_of(thread), key)) return call;
  return add_call(thread, id, key, code, nullptr);
}

Call* add_native_call(Thread& thread, PyMethodDef* definition, PyObject* self, PyObject* module) {
  const std::uint32_t id = native_code_id(definition, self, module);
  Call* const call =
      add_call(thread, id, reinterpret_cast<std::uint64_t>(definition), nullptr, definition);
  if (call) call->flags = flags_of(definition, module);
  return call;
}

bool grow_stack(Thread& thread) {
  const auto room = static_cast<std::size_t>(thread.end - thread.base);
  const auto depth = static_cast<std::size_t>(thread.top - thread.base);
  constexpr std::size_t kMostInFile = tables::Writer::most_at_once<Activation>();
  const std::size_t wanted = room == 1            ? kFewActivations
                             : room < kMostInFile ? kMostInFile
                                                  : room * 2;
  Activation* fresh = nullptr;
  bool own_memory = false;
  if (wanted <= kMostInFile) {
    fresh = writer().add_empty<Activation>(tables::Table::OpenCall, wanted);
  }
  if (!fresh) {
    fresh = static_cast<Activation*>(calloc(wanted, sizeof(Activation)));
    own_memory = true;
  }
  if (!fresh) return false;
  memcpy(static_cast<void*>(fresh), thread.base, (depth + 1) * sizeof(Activation));
  if (!own_memory) {
    for (std::size_t i = 0; i < wanted; ++i) fresh[i].thread = thread.id;
  }
  if (thread.own_memory) {
    free(thread.base);
  } else {
    for (std::size_t i = 0; i <= depth; ++i) thread.base[i].start_ticks = 0;
  }
  thread.own_memory = own_memory;
  thread.base = fresh;
  thread.top = fresh + depth;
  thread.end = fresh + wanted;
  return true;
}

void leave_other(Thread& thread, std::uint64_t key, std::uint64_t now) {
  const Activation* at = thread.top;
  while (at != thread.base && call_of(*at).key != key) --at;
  if (at == thread.base) return;  // it began before the recording
  while (thread.top >= at) leave_top(thread, now);
}

void begin_special(Thread& thread, const Call& call) {
  if (call.flags & kEndsProcess) finish_calls(thread);
}

void end_special(const Call& call) {
  if (call.flags & kStartsThread) hook_new_threads();
}

}  // namespace sonde::python
