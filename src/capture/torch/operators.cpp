// The recorder of torch operators: callbacks of libtorch, and the few functions by which the Python
// package switches them.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

#include "capture/torch/abi.hpp"
#include "capture/torch/names.hpp"
#include "capture/torch/probe.hpp"
#include "capture/torch/shapes.hpp"
#include "sonde/sonde.h"
#include "trace/file_format.hpp"

namespace sonde::capture::torch {
namespace {

Functions functions;
Places places;
Probe probe;
NameCache names;
std::uint64_t handles[3] = {};
bool shapes_wanted = false;
std::uint64_t probe_handle = 0;
std::atomic<std::uint64_t> lost{0};

// Gives the number of the calling thread's stack in the program; null where nobody knows. Set
// before the callbacks are, and never taken back.
using Place = std::uint32_t (*)();
Place place = nullptr;

// When the outermost module at work on the calling thread began; null where nobody knows.
using Began = std::uint64_t (*)();
Began module_began = nullptr;

// An operator at work.
struct Running {
  const void* record;
  std::uint64_t start;
  std::uint64_t facts;
  std::uint32_t name;
  std::uint32_t frame;  // 0: inside of another operator, or not known
  bool ends_step;
  bool is_operator;  // or lies in one
};

// Steps that nobody names: the first optimizer that is seen ends one with each of its steps. The
// first one begins with the first batch, or with the operator that makes the first node of a graph:
// the making of a network is no step. Until there is a node, all operators have the sequence number
// `base`.
struct Steps {
  std::atomic<bool> wanted{false};
  std::atomic<std::uint64_t> start{0};
  std::atomic<std::uint64_t> candidate{0};  // start of the newest outermost operator before that
  std::atomic<std::uint64_t> base{0};
  std::atomic<std::uint32_t> optimizer{0};
  std::atomic<std::uint64_t> count{0};
};
Steps steps;

bool begins_with(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) {
    ++text;
    ++prefix;
  }
  return *prefix == 0;
}

void note_begin(std::uint64_t now) {
  std::uint64_t none = 0;
  steps.start.compare_exchange_strong(none, now);
}

// While no step has begun. `sequence` as in facts_of().
void note_operator(std::uint32_t sequence, bool outermost, std::uint64_t now) {
  const std::uint64_t base = steps.base.load(std::memory_order_relaxed) + 1;
  if (sequence > base) {
    // A step that began inside of a module would overlap it.
    const Began began = __atomic_load_n(&module_began, __ATOMIC_ACQUIRE);
    const std::uint64_t module = began ? began() : 0;
    const std::uint64_t candidate = steps.candidate.load(std::memory_order_relaxed);
    note_begin(module != 0 ? module : candidate != 0 ? candidate : now);
  } else if (sequence == base && outermost) {
    steps.candidate.store(now, std::memory_order_relaxed);
  }
}

void end_step(std::uint32_t optimizer, std::uint64_t now) {
  std::uint32_t none = 0;
  if (!steps.optimizer.compare_exchange_strong(none, optimizer) && none != optimizer) return;
  static sonde_name name = SONDE_NAME_INIT("step");
  const std::uint32_t id = sonde_name_id_(&name);
  const std::uint64_t start = steps.start.exchange(now);
  const std::uint64_t number = steps.count.fetch_add(1);
  if (id == 0 || start == 0) return;
  sonde_record_(start, now, number,
                file::make_word(id, 0, file::RecordType::Slice, SONDE_KIND_STEP));
}

struct Stack {
  static constexpr std::size_t kDepth = 2040;
  std::size_t size;
  Running running[kDepth];
};

__thread Stack* stack __attribute__((tls_model("initial-exec"))) = nullptr;
pthread_key_t stack_key;
pthread_once_t stack_once = PTHREAD_ONCE_INIT;

void free_stack(void* memory) {
  stack = nullptr;
  munmap(memory, sizeof(Stack));
}

Stack* make_stack() {
  pthread_once(&stack_once, [] { pthread_key_create(&stack_key, free_stack); });
  void* const memory =
      mmap(nullptr, sizeof(Stack), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  pthread_setspecific(stack_key, memory);
  stack = static_cast<Stack*>(memory);
  return stack;
}

std::int64_t sequence_of(const void* record) {
  std::int64_t sequence = -1;
  if (places.sequence != 0) {
    __builtin_memcpy(&sequence, static_cast<const char*>(record) + places.sequence,
                     sizeof sequence);
  }
  return sequence;
}

// Sequence plus 1 in the low half (0: none), the shapes' text in the high half.
std::uint64_t facts_of(const void* record) {
  const std::int64_t sequence = sequence_of(record);
  const std::uint64_t low =
      sequence >= 0 && sequence < 0xFFFF'FFFF ? static_cast<std::uint64_t>(sequence) + 1 : 0;
  return low | (shapes_wanted ? std::uint64_t{shapes_of(record, places)} << 32 : 0);
}

template <file::OperatorScope scope>
NoContext start(const RecordFunction* record) {
  if (!sonde_enabled()) return {};
  Stack* const mine = stack ? stack : make_stack();
  if (!mine || mine->size == Stack::kDepth) {
    lost.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  const char* const text = name_of(record, functions, places);
  const bool inside = mine->size > 0 && mine->running[mine->size - 1].is_operator;
  Running& running = mine->running[mine->size++];
  running.record = record;
  running.is_operator = inside || scope != file::OperatorScope::User;
  running.frame = place && !inside ? place() : 0;
  running.facts = facts_of(record);
  running.name = text ? names.find(text) : 0;
  running.start = sonde_ticks();
  running.ends_step = false;
  if (steps.wanted.load(std::memory_order_relaxed)) {
    if (scope == file::OperatorScope::User && text) {
      running.ends_step = begins_with(text, "Optimizer.step#");
      if (begins_with(text, "enumerate(DataLoader)")) note_begin(running.start);
    } else if (scope == file::OperatorScope::Forward &&
               steps.start.load(std::memory_order_relaxed) == 0) {
      note_operator(static_cast<std::uint32_t>(running.facts), mine->size == 1, running.start);
    }
  }
  return {};
}

template <file::OperatorScope scope>
void end(const RecordFunction* record, void*) {
  const std::uint64_t now = sonde_ticks();
  Stack* const mine = stack;
  if (!mine) return;
  // What lies above ended on another thread, where its start is not known.
  std::size_t at = mine->size;
  while (at > 0 && mine->running[at - 1].record != record) --at;
  if (at == 0) return;
  mine->size = at - 1;
  const Running& running = mine->running[at - 1];
  if (running.name == 0 || !sonde_enabled()) return;
  if (running.frame != 0 && now - running.start <= file::kMaxPlacedTicks) {
    sonde_record_(
        running.start, file::make_placed(now - running.start, running.frame), running.facts,
        file::make_word(running.name, static_cast<std::uint16_t>(running.frame >> 16),
                        file::RecordType::PlacedOperator, static_cast<std::uint8_t>(scope)));
  } else {
    sonde_record_(running.start, now, running.facts,
                  file::make_word(running.name, 0, file::RecordType::Operator,
                                  static_cast<std::uint8_t>(scope)));
  }
  if (scope == file::OperatorScope::User && running.ends_step) end_step(running.name, now);
}

NoContext take_picture(const RecordFunction* record) {
  probe.take(record);
  return {};
}

void end_picture(const RecordFunction*, void*) {}

using Start = NoContext (*)(const RecordFunction*);
using End = void (*)(const RecordFunction*, void*);

std::uint64_t add(Start on_start, End on_end, const bool (&scopes)[kScopes], bool inputs) {
  Callback callback{};
  callback.start = reinterpret_cast<void*>(on_start);
  callback.end = reinterpret_cast<void*>(on_end);
  callback.sampling_probability = 1.0;
  for (std::size_t i = 0; i < kScopes; ++i) callback.scopes[i] = scopes[i];
  callback.needs_inputs = inputs;
  return functions.add_global_callback(callback);
}

constexpr bool kForward[kScopes] = {true, false, true};
constexpr bool kBackward[kScopes] = {false, true};
constexpr bool kUser[kScopes] = {false, false, false, false, false, false, false, true};

}  // namespace
}  // namespace sonde::capture::torch

extern "C" {

using namespace sonde::capture::torch;
using sonde::file::OperatorScope;

// `library` is libtorch_cpu.so as it is loaded. 0, or an errno: ENOENT (not loaded), ENOSYS (it
// lacks what is needed).
SONDE_API int sonde_torch_open(const char* library) {
  void* const torch = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!torch) return ENOENT;
  functions.add_global_callback = reinterpret_cast<std::uint64_t (*)(Callback)>(
      dlsym(torch, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"));
  functions.remove_callback =
      reinterpret_cast<void (*)(std::uint64_t)>(dlsym(torch, "_ZN2at14removeCallbackEm"));
  functions.name = reinterpret_cast<const char* (*)(const void*)>(
      dlsym(torch, "_ZNK2at14RecordFunction4nameEv"));
  return functions.add_global_callback && functions.remove_callback ? 0 : ENOSYS;
}

// The next operator of this process is the one of that step (Probe::Step).
SONDE_API void sonde_torch_probe(int step) {
  if (step < 0 || step >= Probe::kSteps) return;
  if (probe_handle == 0) probe_handle = add(take_picture, end_picture, kForward, true);
  probe.arm(static_cast<Probe::Step>(step));
}

// After the four steps. `tensor` is the address of the TensorImpl of shape (3, 5, 7) that they were
// run on, `name` the operator's name. Bit 0: names and sequence numbers are known, bit 1: shapes.
SONDE_API int sonde_torch_probed(const void* tensor, const char* name) {
  if (probe_handle != 0) functions.remove_callback(probe_handle);
  probe_handle = 0;
  int known = 0;
  if (!probe.find_sequence(places) || !probe.check_name(name, functions, places)) {
    places = {};
  } else {
    known |= 1;
    steps.base.store(static_cast<std::uint64_t>(probe.second_sequence(places)) + 1);
    if (probe.check_inputs(tensor, places) && Probe::find_sizes(tensor, places)) {
      known |= 2;
    } else {
      places.inputs = 0;
    }
  }
  return known;
}

// `function` tells where in the program the calling thread is (uint32_t function(void), with or
// without the interpreter's lock). Before sonde_torch_start().
SONDE_API void sonde_torch_places(void* function) {
  if (handles[0] == 0) place = reinterpret_cast<Place>(function);
}

// `function` tells when the outermost module at work on the calling thread began, in ticks
// (uint64_t function(void)), 0 for none.
SONDE_API void sonde_torch_modules(void* function) {
  __atomic_store_n(&module_began, reinterpret_cast<Began>(function), __ATOMIC_RELEASE);
}

SONDE_API int sonde_torch_start(int shapes) {
  if (!functions.add_global_callback || handles[0] != 0) return EINVAL;
  if (!functions.name && places.sequence == 0) return ENOSYS;
  const bool inputs = shapes && places.inputs != 0;
  shapes_wanted = inputs;
  handles[0] = add(start<OperatorScope::Forward>, end<OperatorScope::Forward>, kForward, inputs);
  handles[1] = add(start<OperatorScope::Backward>, end<OperatorScope::Backward>, kBackward, inputs);
  handles[2] = add(start<OperatorScope::User>, end<OperatorScope::User>, kUser, false);
  return 0;
}

SONDE_API void sonde_torch_stop(void) {
  for (std::uint64_t& handle : handles) {
    if (handle != 0) functions.remove_callback(handle);
    handle = 0;
  }
}

// Whether an optimizer's step ends a step; not where the program names its steps itself.
SONDE_API void sonde_torch_steps(int wanted) { steps.wanted.store(wanted != 0); }

// Operators that were nested too deeply, or found no memory.
SONDE_API uint64_t sonde_torch_lost(void) { return lost.load(); }
}
