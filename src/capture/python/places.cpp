#include <stdio.h>
#include <sys/mman.h>

#include "capture/python/codes.hpp"
#include "capture/python/frames.hpp"
#include "capture/python/hash_table.hpp"
#include "capture/python/module.hpp"
#include "capture/python/session.hpp"
#include "sonde/sonde.h"

// Where in the program the calling thread is, as the number of a stack, for recorders of native
// calls (torch's operators, CUDA's calls). They call from inside of the native call, mostly without
// the interpreter's lock.
//
// A stack that was seen before is found by a hash over the addresses of its instructions, without a
// lock. A new one takes the interpreter's lock, once. The code objects of known stacks are kept
// alive, so that an address never comes to mean another instruction.

namespace sonde::python {
namespace {

constexpr std::size_t kMaxDepth = 512;  // of a deeper stack: the innermost frames
constexpr std::size_t kEntries = std::size_t{1} << 16;
constexpr std::size_t kMaxProbes = 64;
// Of a program that makes code without end the rest is free to die.
constexpr std::size_t kMaxKeptCodes = 20'000;

// A stack that is known. Written with the interpreter's lock held; `hash` is 0 while it is not
// whole.
struct Entry {
  std::uint64_t hash;
  std::uint64_t frame;
};

struct KeptCode {
  std::uint64_t hash;
  const PyCodeObject* code;
};

struct Step {
  PyCodeObject* code;
  std::int32_t instruction;
};

Entry* entries = nullptr;
std::size_t entry_count = 0;
HashTable<KeptCode> kept;
std::size_t kept_count = 0;
std::uint64_t lost = 0;
bool active = false;

// Numbers of an earlier recording are void: they hash to something else.
std::uint64_t first_hash() {
  return mix(__atomic_load_n(&generation, __ATOMIC_RELAXED) + std::uint64_t{1});
}

std::uint64_t hash_of(const Frame* frame) {
  std::uint64_t hash = first_hash();
  for (std::size_t depth = 0; frame && depth < kMaxDepth; frame = caller_of(frame), ++depth) {
    hash = (hash ^ instruction_key(frame)) * 0x9E37'79B9'7F4A'7C15u;
    hash ^= hash >> 32;
  }
  return hash | 1;
}

bool look_up(std::uint64_t hash, std::uint32_t& frame) {
  for (std::size_t tries = 0; tries < kMaxProbes; ++tries) {
    const Entry& entry = entries[((hash >> 1) + tries) % kEntries];
    const std::uint64_t there = __atomic_load_n(&entry.hash, __ATOMIC_ACQUIRE);
    if (there == 0) return false;
    if (there != hash) continue;
    frame = static_cast<std::uint32_t>(__atomic_load_n(&entry.frame, __ATOMIC_ACQUIRE));
    // It may have been cleared and used again meanwhile.
    return __atomic_load_n(&entry.hash, __ATOMIC_RELAXED) == hash;
  }
  return false;
}

void remember(std::uint64_t hash, std::uint32_t frame) {
  if (entry_count >= kEntries / 2) {
    for (std::size_t i = 0; i < kEntries; ++i) {
      __atomic_store_n(&entries[i].hash, std::uint64_t{0}, __ATOMIC_RELEASE);
    }
    entry_count = 0;
  }
  for (std::size_t tries = 0; tries < kMaxProbes; ++tries) {
    Entry& entry = entries[((hash >> 1) + tries) % kEntries];
    if (__atomic_load_n(&entry.hash, __ATOMIC_RELAXED) != 0) continue;
    __atomic_store_n(&entry.frame, std::uint64_t{frame}, __ATOMIC_RELEASE);
    __atomic_store_n(&entry.hash, hash, __ATOMIC_RELEASE);
    ++entry_count;
    return;
  }
}

// False where there are too many.
bool keep(PyCodeObject* code) {
  const std::uint64_t hash = mix(reinterpret_cast<std::uint64_t>(code));
  if (kept.find(hash, [&](const KeptCode& other) { return other.code == code; })) return true;
  if (kept_count == kMaxKeptCodes || !kept.add(hash, {0, code})) return false;
  Py_INCREF(code);
  ++kept_count;
  return true;
}

bool finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// With the interpreter's lock.
std::uint32_t add_stack(const Frame* top, std::uint64_t hash) {
  std::uint32_t frame = 0;
  if (look_up(hash, frame)) return frame;  // another thread was faster
  Step steps[kMaxDepth];
  std::size_t count = 0;
  bool all_kept = true;
  std::size_t depth = 0;
  for (const Frame* at = top; at && depth < kMaxDepth; at = caller_of(at), ++depth) {
    auto* const code = const_cast<PyCodeObject*>(code_in(at));
    if (!code) continue;
    all_kept = keep(code) && all_kept;
    steps[count++] = {code, instruction_of(at)};
  }
  while (count > 0) {
    const Step& step = steps[--count];
    const int line = PyCode_Addr2Line(step.code, step.instruction);
    const std::uint32_t code = code_id(step.code);
    // Without its row the frame would say nothing: its caller stands for it.
    if (code == 0) continue;
    const std::uint32_t id = frame_id(frame, code, line > 0 ? line : step.code->co_firstlineno);
    if (id == 0) break;
    frame = id;
  }
  if (frame == 0) ++lost;
  // A stack whose code may die is looked at anew each time.
  if (all_kept) remember(hash, frame);
  return frame;
}

std::uint32_t add_stack_locked(const Frame* top, std::uint64_t hash) {
  if (finalizing()) return 0;
  const PyGILState_STATE state = PyGILState_Ensure();
  const std::uint32_t frame = __atomic_load_n(&active, __ATOMIC_RELAXED) ? add_stack(top, hash) : 0;
  PyGILState_Release(state);
  return frame;
}

// The number of the calling thread's stack (frame_id()); 0 where it has none. Needs no interpreter
// lock.
std::uint32_t place() {
  if (!__atomic_load_n(&active, __ATOMIC_ACQUIRE)) return 0;
  const PyThreadState* const thread = PyGILState_GetThisThreadState();
  if (!thread) return 0;
  const Frame* const top = top_frame(thread);
  if (!top) return 0;
  const std::uint64_t hash = hash_of(top);
  std::uint32_t frame = 0;
  if (__builtin_expect(look_up(hash, frame), 1)) return frame;
  return add_stack_locked(top, hash);
}

bool make_entries() {
  if (entries) return true;
  void* const memory = mmap(nullptr, kEntries * sizeof(Entry), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  entries = static_cast<Entry*>(memory);
  return true;
}

PyObject* start_places(PyObject* module, PyObject*) {
  const char* wrong = prepare_codes();
  if (!wrong) wrong = start_tables();
  if (!wrong && !make_entries()) wrong = "there is no memory";
  if (wrong) {
    PyErr_Format(PyExc_OSError, "sonde: %s", wrong);
    return nullptr;
  }
  static bool registered = false;
  if (!registered) registered = call_at_exit(module, "stop_places");
  if (!registered) return nullptr;
  __atomic_store_n(&active, true, __ATOMIC_RELEASE);
  // For whoever is loaded by somebody else, and later: the recorder of CUDA's calls.
  __atomic_store_n(&sonde_place_, &place, __ATOMIC_RELEASE);
  return PyLong_FromVoidPtr(reinterpret_cast<void*>(place));
}

// At the end of the interpreter: from then on it takes the states of its threads away.
PyObject* stop_places(PyObject*, PyObject*) {
  if (active && lost > 0) {
    char number[32];
    snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(lost));
    add_property("python.places.lost", number);
  }
  __atomic_store_n(&active, false, __ATOMIC_RELEASE);
  stop_tables();
  Py_RETURN_NONE;
}

PyObject* place_number(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(place()); }

}  // namespace

PyMethodDef place_methods[] = {
    {"start_places", start_places, METH_NOARGS,
     "Makes the tables beside the recording, where there are none, and returns the address of a "
     "function in C, `uint32_t place(void)`: the number of the calling thread's stack in them."},
    {"stop_places", stop_places, METH_NOARGS,
     "From here on the function gives 0; tables that it made are closed."},
    {"place", place_number, METH_NOARGS, "The number of this stack, 0 where places are off."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace sonde::python
