#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/memory/address_map.hpp"
#include "capture/memory/interface.hpp"
#include "trace/tables/format.hpp"

// What the hooks call. The fast ways are inline: a call of malloc that is no sample costs a few
// instructions more than without.

namespace sonde::memory {

enum Mode : std::uint32_t {
  kOff = 0,
  kOn = 1,
  kExact = 2,  // every allocation is a sample
  kWatch = 4,  // activity is added up
};

// The initial-exec model: found without a call, which would allocate. Nothing has to be made or
// destroyed, so that it is there as long as the thread is.
struct ThreadState {
  std::int64_t left;     // bytes until the next sample
  std::uint32_t inside;  // in an allocator that is counted already, or in this library
  std::uint64_t random;
  std::uint64_t activity;
  std::uint32_t calls;  // of what is watched
};
extern __thread ThreadState thread_state __attribute__((tls_model("initial-exec")));

extern std::uint32_t mode;
extern AddressMap* blocks;  // nullptr until the first start

// Of an allocation, which may be worth a look at the whole; frees only add up.
void add_activity(std::uint64_t bytes);
void take_sample(void* block, std::size_t size, tables::Memory memory);
// A block that is about to be freed: it must be out of the map before its address is given anew.
void forget_sample(void* block);
// The same in two steps, for realloc(), which may fail and leave the block.
bool lift_sample(void* block, Block& out);
void end_sample(const Block& block);
void put_back_sample(const Block& block);

// malloc_hooks.cpp: whether the program's malloc is this library's, as it is where that is
// preloaded.
bool hooks_in_use();

// python_hooks.cpp
void wrap_allocator(int domain, const Allocator* inner, Allocator* out);
void start_from_environment();

class Inside {
 public:
  Inside() { ++thread_state.inside; }
  ~Inside() { --thread_state.inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

inline std::uint32_t current_mode() { return __atomic_load_n(&mode, __ATOMIC_RELAXED); }

inline void note_allocation(void* block, std::size_t size, tables::Memory memory) {
  const std::uint32_t now = current_mode();
  ThreadState& thread = thread_state;
  if (__builtin_expect(now == kOff, 0) || thread.inside != 0 || !block) return;
  if (__builtin_expect(now & kWatch, 0)) add_activity(size);
  if ((now & kOn) == 0) return;
  thread.left -= static_cast<std::int64_t>(size);
  if (__builtin_expect(thread.left < 0 || (now & kExact), 0)) take_sample(block, size, memory);
}

// Whether the block is a sample, perhaps.
inline bool may_be_sample(const void* block) {
  return (current_mode() & kOn) && blocks->may_have(block);
}

}  // namespace sonde::memory
