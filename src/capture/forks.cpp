#include <sched.h>
#include <sys/mman.h>

#include "capture/recorder.hpp"

// A child has the parent's memory, but not its chunks (MADV_DONTFORK) and not its threads. fork()
// tells the recorder through handlers; _Fork() and a raw clone() do not. So everything that a
// thread's records depend on without asking, where its room ends, lies in memory that a child finds
// empty (MADV_WIPEONFORK): its first record takes the slow way, and there `mark` is gone as well.

namespace sonde::capture {

std::uint64_t* no_end = nullptr;
std::uint32_t process_generation = 1;

namespace {

enum Mark : std::uint32_t { kForked = 0, kMine = 1, kAtWork = 2 };

// Where the room of one thread ends; a cache line for each.
struct alignas(64) Slot {
  std::uint64_t* end;
  Slot* next;  // while it is free
};

constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kBlockSlots = kBlockBytes / sizeof(Slot);

// Where the kernel cannot empty memory for a child (before Linux 4.14).
std::uint32_t always_mine = kMine;

std::uint32_t* mark = &always_mine;
Slot* first_block;  // its first slot holds the mark
Slot* unused;
Slot* unused_end;
Slot* free_slots;

// fork() from a handler that interrupted the recorder: the lock may be this thread's already.
__thread bool forked_inside __attribute__((tls_model("initial-exec")));

Slot* make_block() {
  void* const block =
      mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  if (madvise(block, kBlockBytes, MADV_WIPEONFORK) != 0) {
    munmap(block, kBlockBytes);
    return nullptr;
  }
  return static_cast<Slot*>(block);
}

// What this process has is not its own. Under the lock, or before there is a second thread.
void begin_anew() {
  ++process_generation;
  forget_threads();
  forget_session_in_child();
  // The slots of the first block are empty again. Others are given up with the threads.
  free_slots = nullptr;
  unused = first_block ? first_block + 1 : nullptr;
  unused_end = first_block ? first_block + kBlockSlots : nullptr;
}

void before_fork() {
  forked_inside = sonde_cursor_.busy != 0;
  if (forked_inside) return;
  sonde_cursor_.busy = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  pthread_mutex_lock(&global_lock);
}

void after_fork_in_parent() {
  if (forked_inside) return;
  pthread_mutex_unlock(&global_lock);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  sonde_cursor_.busy = 0;
}

void after_fork_in_child() {
  begin_anew();
  forget_own_thread();
  __atomic_store_n(mark, std::uint32_t{kMine}, __ATOMIC_RELEASE);
  after_fork_in_parent();
}

}  // namespace

void register_fork_handlers() {
  first_block = make_block();
  if (first_block) {
    mark = reinterpret_cast<std::uint32_t*>(first_block);
    *mark = kMine;
    unused = first_block + 1;
    unused_end = first_block + kBlockSlots;
  }
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void notice_fork() {
  std::uint32_t seen = __atomic_load_n(mark, __ATOMIC_ACQUIRE);
  if (seen != kMine) {
    if (seen == kForked && __atomic_compare_exchange_n(mark, &seen, std::uint32_t{kAtWork}, false,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      // Whoever held the lock is not here.
      constexpr pthread_mutex_t kFree = PTHREAD_MUTEX_INITIALIZER;
      global_lock = kFree;
      begin_anew();
      __atomic_store_n(mark, std::uint32_t{kMine}, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(mark, __ATOMIC_ACQUIRE) != kMine) sched_yield();
  }
  if (thread_state.generation != process_generation) forget_own_thread();
}

bool forked_unnoticed() { return __atomic_load_n(mark, __ATOMIC_ACQUIRE) != kMine; }

std::uint64_t** take_slot() {
  Slot* slot = free_slots;
  if (slot) {
    free_slots = slot->next;
  } else {
    if (unused == unused_end) {
      // Without a first block there is no use in a second.
      Slot* const block = first_block ? make_block() : nullptr;
      if (!block) return &thread_state.own_end;
      unused = block;
      unused_end = block + kBlockSlots;
    }
    slot = unused++;
  }
  return &slot->end;
}

void give_slot_back(std::uint64_t** end) {
  if (end == &no_end || end == &thread_state.own_end) return;
  Slot* const slot = reinterpret_cast<Slot*>(end);
  slot->next = free_slots;
  free_slots = slot;
}

}  // namespace sonde::capture
