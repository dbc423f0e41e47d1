#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/memory/engine.hpp"

// malloc and its like, in front of the program's own ones where this library is preloaded.

#define SONDE_HOOK extern "C" __attribute__((visibility("default")))

namespace sonde::memory {
namespace {

struct Functions {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*reallocarray)(void*, std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  void (*free_sized)(void*, std::size_t);
  void (*free_aligned_sized)(void*, std::size_t, std::size_t);
  std::size_t (*usable_size)(void*);
};
Functions next;
std::uint32_t ready;  // 1 when `next` is filled

// What is asked for before the real functions are found: the search itself may allocate. It is
// never given back.
constexpr std::size_t kArenaBytes = 64 * 1024;
alignas(64) char arena[kArenaBytes];
std::size_t arena_used;
__thread bool searching __attribute__((tls_model("initial-exec")));

bool in_arena(const void* block) {
  const auto* const at = static_cast<const char*>(block);
  return at >= arena && at < arena + kArenaBytes;
}

// In front of each block its size.
void* take_from_arena(std::size_t size, std::size_t alignment) {
  if (alignment < 16) alignment = 16;
  const std::size_t wanted = size + alignment + 16;
  if (wanted < size || wanted > kArenaBytes) return nullptr;
  const std::size_t start = __atomic_fetch_add(&arena_used, wanted, __ATOMIC_RELAXED);
  if (start > kArenaBytes - wanted) return nullptr;
  auto at = reinterpret_cast<std::uintptr_t>(arena + start + 16);
  at = (at + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
  reinterpret_cast<std::size_t*>(at)[-1] = size;
  return reinterpret_cast<void*>(at);
}

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// False while this very thread is searching.
bool find_all() {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return true;
  if (searching) return false;
  searching = true;
  // Two threads may do this at once, and find the same.
  find(next.malloc, "malloc");
  find(next.free, "free");
  find(next.calloc, "calloc");
  find(next.realloc, "realloc");
  find(next.reallocarray, "reallocarray");
  find(next.posix_memalign, "posix_memalign");
  find(next.aligned_alloc, "aligned_alloc");
  find(next.memalign, "memalign");
  find(next.valloc, "valloc");
  find(next.pvalloc, "pvalloc");
  find(next.free_sized, "free_sized");
  find(next.free_aligned_sized, "free_aligned_sized");
  find(next.usable_size, "malloc_usable_size");
  searching = false;
  if (!next.malloc || !next.free || !next.calloc || !next.realloc) {
    constexpr char kText[] = "sonde: libsonde_memory.so found no malloc behind it\n";
    (void)!write(2, kText, sizeof kText - 1);
    _exit(127);
  }
  __atomic_store_n(&ready, 1u, __ATOMIC_RELEASE);
  return true;
}

bool found() {
  return __builtin_expect(__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 0, 1) || find_all();
}

void* noted(void* block, std::size_t size) {
  note_allocation(block, size, tables::Memory::Native);
  return block;
}

// Before a block is freed.
void note_free(void* block) {
  if (may_be_sample(block)) forget_sample(block);
  if (__builtin_expect(current_mode() & kWatch, 0) && next.usable_size) {
    thread_state.activity += next.usable_size(block);
  }
}

// A block of the arena moves into real memory.
void* move_out(const void* old, std::size_t size) {
  void* const block = next.malloc(size);
  const std::size_t old_size = static_cast<const std::size_t*>(old)[-1];
  if (block) memcpy(block, old, old_size < size ? old_size : size);
  return block;
}

__attribute__((constructor)) void at_load() { start_from_environment(); }

}  // namespace

bool hooks_in_use() { return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 0; }

}  // namespace sonde::memory

using namespace sonde::memory;

SONDE_HOOK void* malloc(std::size_t size) {
  if (!found()) return take_from_arena(size, 16);
  return noted(next.malloc(size), size);
}

SONDE_HOOK void free(void* block) {
  if (!block || in_arena(block) || !found()) return;
  note_free(block);
  next.free(block);
}

SONDE_HOOK void* calloc(std::size_t count, std::size_t size) {
  // The arena is never given twice, and so is of zeros.
  if (!found()) {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : take_from_arena(bytes, 16);
  }
  return noted(next.calloc(count, size), count * size);
}

SONDE_HOOK void* realloc(void* old, std::size_t size) {
  if (!found()) {
    void* const block = take_from_arena(size, 16);
    if (block && old && in_arena(old)) {
      const std::size_t old_size = static_cast<const std::size_t*>(old)[-1];
      memcpy(block, old, old_size < size ? old_size : size);
    }
    return block;
  }
  if (old && in_arena(old)) return move_out(old, size);
  Block lifted;
  const bool sampled = old && may_be_sample(old) && lift_sample(old, lifted);
  void* const block = next.realloc(old, size);
  // realloc(p, 0) frees p and may return nothing.
  if (sampled && (block || size == 0)) end_sample(lifted);
  if (sampled && !block && size != 0) put_back_sample(lifted);
  return noted(block, size);
}

SONDE_HOOK void* reallocarray(void* old, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(old, bytes);
}

SONDE_HOOK int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (!found()) {
    *out = take_from_arena(size, alignment);
    return *out ? 0 : ENOMEM;
  }
  const int error = next.posix_memalign(out, alignment, size);
  if (error == 0) noted(*out, size);
  return error;
}

SONDE_HOOK void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!found()) return take_from_arena(size, alignment);
  return noted(next.aligned_alloc(alignment, size), size);
}

SONDE_HOOK void* memalign(std::size_t alignment, std::size_t size) {
  if (!found()) return take_from_arena(size, alignment);
  return noted(next.memalign(alignment, size), size);
}

SONDE_HOOK void* valloc(std::size_t size) {
  if (!found()) return take_from_arena(size, 4096);
  return noted(next.valloc(size), size);
}

SONDE_HOOK void* pvalloc(std::size_t size) {
  if (!found()) return take_from_arena(size, 4096);
  return noted(next.pvalloc(size), size);
}

// C23. Where the C library has none yet, it is free().
SONDE_HOOK void free_sized(void* block, std::size_t size) {
  if (!block || in_arena(block) || !found()) return;
  note_free(block);
  next.free_sized ? next.free_sized(block, size) : next.free(block);
}

SONDE_HOOK void free_aligned_sized(void* block, std::size_t alignment, std::size_t size) {
  if (!block || in_arena(block) || !found()) return;
  note_free(block);
  next.free_aligned_sized ? next.free_aligned_sized(block, alignment, size) : next.free(block);
}
