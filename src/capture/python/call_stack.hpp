#pragma once

#include "capture/python/codes.hpp"
#include "capture/python/interpreter.hpp"
#include "sonde/sonde.h"
#include "trace/tables/format.hpp"

// What a thread is calling, and the sums of what it called: counted as cProfile does. Everything of
// a thread is its own and changes under the interpreter's lock, so that an event takes no other
// lock. The sums lie in the file.

namespace sonde::python {

struct Function;

// Flags of calls.
inline constexpr std::uint32_t kEndsProcess = 1;   // os._exit and its like: nothing comes after it
inline constexpr std::uint32_t kStartsThread = 2;  // there is a thread more after it

// One function as called by another.
struct Call {
  tables::CallRow* row;
  Function* callee;
  std::uint64_t key;    // the mark of a code object, or the address of a builtin's definition
  const char* name;     // of a builtin's definition
  std::uint64_t pair;   // caller and callee, as in OpenCallRow
  std::uint32_t level;  // how often it is at work
  std::uint32_t flags;
};

struct CallSlot {
  std::uint64_t key;
  Call* call;
};

// A function as a callee, and whom it calls: open addressing by key.
struct Function {
  tables::FunctionRow* row;
  std::uint64_t word;  // of its slices on the timeline; 0 without one
  CallSlot* slots;
  std::uint32_t shift;  // 64 - log2(slots)
  std::uint32_t calls;  // slots in use
  std::uint32_t code;
  std::uint32_t level;
  CallSlot first_slots[4];
};

// An activation: as much of it as fits into a row of the file, and the Call it belongs to.
using Activation = tables::OpenCallRow;

inline Call& call_of(const Activation& activation) {
  return *reinterpret_cast<Call*>(activation.writer);
}

struct Arena;
struct FunctionIndex;

struct Thread {
  Activation* top;
  Activation* end;  // of the room
  Activation* base;
  Activation none;  // below the outermost call, with a key that no call has
  Call outside_call;
  Function outside;  // who calls the outermost functions
  Arena* arena;
  FunctionIndex* index;
  std::uint64_t interpreter_id;  // of the thread's state; 0: it has none now
  std::uint32_t owner;           // number of the one that holds it; each has another
  std::uint32_t id;
  std::uint32_t name_tries;
  bool own_memory;   // the activations lie in memory, not in the file
  bool interrupted;  // the program replaced the hook
  bool abandoned;    // a thread of the process that this one was forked from
  bool adopted;      // its thread knows it, and gives it back
  bool unused;       // its thread has ended
  Thread* next;
};

// How the calls are to be recorded; the same for all threads.
struct CallOptions {
  bool timeline;
  bool builtins;
};
extern CallOptions call_options;

void init_thread(Thread& thread);
// Ends all calls that are at work, as if they returned now.
void finish_calls(Thread& thread);
// Forgets everything, without a look at it: the rows are void, or another's.
void reset_thread(Thread& thread);

// The slow ways. nullptr where there is no memory: such a call is not recorded.
Call* add_code_call(Thread& thread, PyCodeObject* code);
Call* add_native_call(Thread& thread, PyMethodDef* definition, PyObject* self, PyObject* module);
bool grow_stack(Thread& thread);
// A return that is not that of the innermost call: ends the calls above the one it belongs to, or
// nothing where there is none.
void leave_other(Thread& thread, std::uint64_t key, std::uint64_t now);
// What is special about a call that begins, or has ended.
void begin_special(Thread& thread, const Call& call);
void end_special(const Call& call);

inline Call* find_call(const Function& caller, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << (64 - caller.shift)) - 1;
  for (std::uint64_t i = key * 0x9E37'79B9'7F4A'7C15u >> caller.shift;; i = (i + 1) & mask) {
    const CallSlot& slot = caller.slots[i];
    if (slot.key == key) return slot.call;
    if (slot.key == 0) return nullptr;
  }
}

inline const Function& caller_of(const Thread& thread) { return *call_of(*thread.top).callee; }

inline void enter(Thread& thread, Call& call) {
  if (__builtin_expect(thread.top + 1 == thread.end, 0) && !grow_stack(thread)) return;
  Activation& activation = *++thread.top;
  __builtin_memcpy(&activation.caller, &call.pair, sizeof call.pair);
  activation.inner_ticks = 0;
  activation.writer = reinterpret_cast<std::uint64_t>(&call);
  ++call.level;
  ++call.callee->level;
  activation.start_ticks = sonde_ticks();
}

inline void leave_top(Thread& thread, std::uint64_t now) {
  Activation& activation = *thread.top;
  Call& call = call_of(activation);
  Function& callee = *call.callee;
  const std::uint64_t start = activation.start_ticks;
  const std::uint64_t total = now - start;
  const std::uint64_t self = total - activation.inner_ticks;
  activation.start_ticks = 0;
  --thread.top;
  thread.top->inner_ticks += total;
  tables::FunctionRow& function_row = *callee.row;
  ++function_row.calls;
  function_row.self_ticks += self;
  if (--callee.level == 0) {
    function_row.total_ticks += total;
  } else {
    ++function_row.recursive_calls;
  }
  tables::CallRow& call_row = *call.row;
  ++call_row.calls;
  call_row.self_ticks += self;
  if (--call.level == 0) {
    call_row.total_ticks += total;
  } else {
    ++call_row.recursive_calls;
  }
  if (callee.word != 0 && sonde_enabled()) sonde_record_(start, now, 0, callee.word);
}

inline void leave(Thread& thread, std::uint64_t key) {
  const std::uint64_t now = sonde_ticks();
  if (__builtin_expect(call_of(*thread.top).key != key, 0)) return leave_other(thread, key, now);
  leave_top(thread, now);
}

inline void enter_code(Thread& thread, PyCodeObject* code) {
  Call* call = find_call(caller_of(thread), code_mark(code) | kMarkBit);
  if (__builtin_expect(!call, 0) && !(call = add_code_call(thread, code))) return;
  enter(thread, *call);
}

inline void leave_code(Thread& thread, PyCodeObject* code) {
  leave(thread, code_mark(code) | kMarkBit);
}

inline void enter_native(Thread& thread, PyMethodDef* definition, PyObject* self,
                         PyObject* module) {
  Call* call = find_call(caller_of(thread), reinterpret_cast<std::uint64_t>(definition));
  // Extensions free definitions: another one may lie at the address now.
  if (__builtin_expect(!call || call->name != definition->ml_name, 0) &&
      !(call = add_native_call(thread, definition, self, module))) {
    return;
  }
  enter(thread, *call);
  if (__builtin_expect(call->flags != 0, 0)) begin_special(thread, *call);
}

inline void leave_native(Thread& thread, PyMethodDef* definition) {
  const std::uint64_t now = sonde_ticks();
  const Call& call = call_of(*thread.top);
  if (__builtin_expect(call.key != reinterpret_cast<std::uint64_t>(definition), 0)) {
    return leave_other(thread, reinterpret_cast<std::uint64_t>(definition), now);
  }
  leave_top(thread, now);
  if (__builtin_expect(call.flags != 0, 0)) end_special(call);
}

}  // namespace sonde::python
