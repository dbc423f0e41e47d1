#include "capture/memory/engine.hpp"

// The interpreter's three allocators. A large object asks the raw one, and that malloc: what is
// inside of another allocator is counted there.

namespace sonde::memory {
namespace {

// By domain, not by the context that is handed over: another thread may read an allocator while it
// is being set, and see the new function with the old context.
Allocator inner[kDomains];

// Blocks of the interpreter do not tell their size. Enough of them are worth a look.
constexpr std::uint64_t kGuessedFree = 64;

template <int domain>
void* python_malloc(void*, std::size_t size) {
  void* block;
  {
    const Inside inside;
    block = inner[domain].malloc(inner[domain].context, size);
  }
  note_allocation(block, size, tables::Memory::Python);
  return block;
}

template <int domain>
void* python_calloc(void*, std::size_t count, std::size_t size) {
  void* block;
  {
    const Inside inside;
    block = inner[domain].calloc(inner[domain].context, count, size);
  }
  note_allocation(block, count * size, tables::Memory::Python);
  return block;
}

template <int domain>
void* python_realloc(void*, void* old, std::size_t size) {
  Block lifted;
  const bool sampled = old && may_be_sample(old) && lift_sample(old, lifted);
  void* block;
  {
    const Inside inside;
    block = inner[domain].realloc(inner[domain].context, old, size);
  }
  if (sampled && block) end_sample(lifted);
  if (sampled && !block) put_back_sample(lifted);
  note_allocation(block, size, tables::Memory::Python);
  return block;
}

template <int domain>
void python_free(void*, void* block) {
  const std::uint32_t now = current_mode();
  if ((now & kOn) && blocks->may_have(block)) forget_sample(block);
  if (__builtin_expect(now & kWatch, 0)) thread_state.activity += kGuessedFree;
  inner[domain].free(inner[domain].context, block);
}

template <int domain>
constexpr Allocator kHooks = {nullptr, python_malloc<domain>, python_calloc<domain>,
                              python_realloc<domain>, python_free<domain>};

}  // namespace

void wrap_allocator(int domain, const Allocator* allocator, Allocator* out) {
  if (domain < 0 || domain >= kDomains) return;
  inner[domain] = *allocator;
  *out = domain == 0 ? kHooks<0> : domain == 1 ? kHooks<1> : kHooks<2>;
}

}  // namespace sonde::memory
