#include "capture/memory/engine.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/memory/ledger.hpp"
#include "capture/memory/output.hpp"
#include "capture/memory/stacks.hpp"
#include "trace/tables/writer.hpp"

namespace sonde::memory {

__thread ThreadState thread_state __attribute__((tls_model("initial-exec")));
std::uint32_t mode = kOff;
AddressMap* blocks;

namespace {

// How often all rows are brought up to date, for a process that is killed: those of sites that did
// not change do not know of the newest peak.
constexpr std::int64_t kPublishNanos = 250'000'000;

// Everything that belongs to one process. In memory that a forked child finds empty: whoever held a
// lock is not there, and what was counted is the parent's.
struct Engine {
  pthread_mutex_t lock;
  bool begun;
  bool tried_file;
  bool made_recording;
  std::int64_t published;
  std::uint64_t lost;
  Ledger ledger;
  Stacks stacks;
  tables::Writer file;
  AddressMap map;
  char recording[PATH_MAX];
};

Engine* engine;
// These a child keeps.
std::uint64_t gap = kDefaultGap;
const PythonSource* python;
bool waits_for_agent;  // an interpreter, whose agent has not come yet

class Lock {
 public:
  Lock() { pthread_mutex_lock(&engine->lock); }
  ~Lock() { pthread_mutex_unlock(&engine->lock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

void set_mode(std::uint32_t bits, std::uint32_t among) {
  __atomic_store_n(&mode, (current_mode() & ~among) | bits, __ATOMIC_RELEASE);
}

std::int64_t now_nanos() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Where the kernel cannot empty memory for a child (before Linux 4.14).
void empty_in_child() { memset(static_cast<void*>(engine), 0, sizeof(Engine)); }

bool make_engine() {
  if (engine) return true;
  void* const memory = map_memory(sizeof(Engine));
  if (!memory) return false;
  engine = static_cast<Engine*>(memory);
  if (madvise(memory, sizeof(Engine), MADV_WIPEONFORK) != 0) {
    pthread_atfork(nullptr, nullptr, empty_in_child);
  }
  blocks = &engine->map;
  return true;
}

void tell(const char* key, std::uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
  engine->file.add_property(key, text);
}

// Before the first row. Under the lock.
void open_file(bool at_end) {
  if (engine->file.is_open() || engine->tried_file) return;
  if (!python && waits_for_agent && !at_end) return;
  engine->tried_file = true;
  char path[PATH_MAX];
  if (python) {
    if (!python->recording(engine->recording, sizeof engine->recording)) return;
  } else if (recording_of_program(engine->recording, sizeof engine->recording)) {
    engine->made_recording = true;
  } else {
    return;
  }
  if (!tables::companion_path(engine->recording, ".memory", path, sizeof path)) return;
  if (engine->file.open(path, size_limit()) != 0) return;
  tell("memory.gap", gap);
  engine->file.add_property("memory.method", gap == 0 ? "every allocation" : "samples by bytes");
  engine->file.add_property("memory.native", hooks_in_use() ? "malloc and its like" : "not seen");
}

void write_row(Ledger::Site& site) {
  if (site.row || !engine->file.is_open()) return;
  site.row = engine->file.add(tables::Table::Site,
                              tables::SiteRow{site.frame, site.memory, 0, 0, 0, 0, 0});
  engine->ledger.publish(site);
}

void write_rows() {
  for (std::uint32_t i = 0; i < engine->ledger.count(); ++i) write_row(engine->ledger.site(i));
}

void begin() {
  engine->begun = true;
  engine->published = now_nanos();
}

// The number of the site that the calling thread's stack belongs to. Under the lock.
std::uint32_t site_here(tables::Memory memory) {
  std::uint32_t frame = 0;
  const bool had_file = engine->file.is_open();
  open_file(false);
  if (engine->file.is_open()) {
    if (!had_file) write_rows();
    if (python) {
      frame = engine->stacks.python_frame(*python, engine->file);
    } else if (!waits_for_agent) {
      frame = engine->stacks.native_frame(engine->file);
    }
  }
  return engine->ledger.site_of(frame, memory);
}

void pause() {
  if (!engine) return;
  const Inside inside;
  set_mode(0, kOn | kExact);
  const Lock lock;
  engine->ledger.publish_all();
  // What is freed from here on is not seen.
  engine->map.clear();
}

void finish() {
  if (!engine) return;
  const Inside inside;
  pause();
  const Lock lock;
  if (!engine->begun) return;
  if (engine->ledger.samples() > 0) {
    const bool had_file = engine->file.is_open();
    open_file(true);
    if (!had_file) write_rows();
  }
  if (engine->file.is_open()) {
    engine->ledger.publish_all();
    tell("memory.samples", engine->ledger.samples());
    tell("memory.lost_samples", engine->lost);
    tell("memory.peak_bytes", static_cast<std::uint64_t>(engine->ledger.peak()));
    const std::int64_t live = engine->ledger.live();
    tell("memory.live_bytes", live > 0 ? static_cast<std::uint64_t>(live) : 0);
    engine->file.close();
    if (engine->made_recording) end_recording(engine->recording);
  }
  engine->ledger.clear();
  engine->stacks.clear();
  engine->begun = engine->tried_file = engine->made_recording = false;
  engine->lost = 0;
}

void start(const PythonSource* source, std::uint64_t new_gap) {
  if (!make_engine()) return;
  const Inside inside;
  const Lock lock;
  if (!engine->begun) begin();
  python = source;
  waits_for_agent = false;
  // What lives was weighed by the old gap: it stays while that goes on.
  if ((current_mode() & kOn) == 0) gap = new_gap;
  engine->tried_file = false;
  set_mode(kOn | (gap == 0 ? kExact : kOff), kOn | kExact);
}

void (*look)();

void set_look(void (*function)()) { __atomic_store_n(&look, function, __ATOMIC_RELEASE); }

// Several may watch.
std::uint32_t watchers;

void watch(bool on) {
  watchers += on ? 1 : -1;
  on = watchers > 0;
  set_mode(on ? kWatch : kOff, kWatch);
}

std::uint64_t activity() { return thread_state.activity; }

void totals(Totals* out) {
  *out = {};
  if (!engine) return;
  const Inside inside;
  const Lock lock;
  *out = {engine->ledger.samples(), engine->ledger.allocated(), engine->ledger.live(),
          engine->ledger.peak(), engine->lost};
}

void quiet(bool on) { thread_state.inside += on ? 1u : ~0u; }

__attribute__((destructor)) void at_exit() {
  if (current_mode() & kOn) finish();
}

}  // namespace

void add_activity(std::uint64_t bytes) {
  ThreadState& thread = thread_state;
  thread.activity += bytes;
  void (*const function)() = __atomic_load_n(&look, __ATOMIC_ACQUIRE);
  // A large block, or one call of a few.
  constexpr std::uint64_t kLarge = 256 * 1024;
  constexpr std::uint32_t kFew = 16;
  if (!function || (++thread.calls % kFew != 0 && bytes < kLarge)) return;
  const int error = errno;
  const Inside inside;
  function();
  errno = error;
}

void take_sample(void* block, std::size_t size, tables::Memory memory) {
  const int error = errno;
  ThreadState& thread = thread_state;
  const Inside inside;
  const std::uint64_t now_gap = gap;
  const bool first = thread.random == 0;
  if (first) {
    // Each thread has numbers of its own.
    thread.random =
        mix(reinterpret_cast<std::uint64_t>(&thread) ^ static_cast<std::uint64_t>(getpid()) << 40 ^
            static_cast<std::uint64_t>(now_nanos())) |
        1;
  }
  if (now_gap != 0) thread.left = next_gap(thread.random, now_gap);
  // Before a thread's first gap is drawn, its bytes have not been counted: begin with this one.
  if (first && now_gap != 0) {
    thread.left -= static_cast<std::int64_t>(size);
    if (thread.left >= 0) {
      errno = error;
      return;
    }
    thread.left = next_gap(thread.random, now_gap);
  }
  std::uint32_t site = Ledger::kNoSite;
  {
    const Lock lock;
    // It may have ended while this thread waited.
    if ((current_mode() & kOn) == 0) {
      errno = error;
      return;
    }
    if (!engine->begun) begin();
    site = site_here(memory);
    if (site == Ledger::kNoSite) {
      ++engine->lost;
    } else {
      write_row(engine->ledger.site(site));
      engine->ledger.allocate(site, weight_of(size, now_gap));
      const std::int64_t now = now_nanos();
      if (now - engine->published > kPublishNanos) {
        engine->published = now;
        engine->ledger.publish_all();
      }
    }
  }
  if (site != Ledger::kNoSite && !engine->map.add(block, size, site)) {
    // It cannot be followed: counted as freed at once, rather than as a leak.
    const Lock lock;
    ++engine->lost;
    engine->ledger.release(site, weight_of(size, now_gap));
  }
  errno = error;
}

bool lift_sample(void* block, Block& out) {
  const Inside inside;
  return engine->map.take(block, out);
}

void end_sample(const Block& block) {
  const int error = errno;
  const Inside inside;
  const Lock lock;
  // A finish() in between has dropped the sites.
  if (block.site < engine->ledger.count()) {
    engine->ledger.release(block.site, weight_of(block.size, gap));
  }
  errno = error;
}

void put_back_sample(const Block& block) {
  const int error = errno;
  const Inside inside;
  if (!engine->map.add(reinterpret_cast<void*>(block.address), block.size, block.site)) {
    end_sample(block);
  }
  errno = error;
}

void forget_sample(void* block) {
  Block taken;
  if (lift_sample(block, taken)) end_sample(taken);
}

void start_from_environment() {
  read_environment();
  const char* const asked = secure_getenv("SONDE_MEMORY_LINES");
  if (!asked || !*asked) return;
  const Inside inside;
  char* end = nullptr;
  const unsigned long long number = strtoull(asked, &end, 10);
  if (end == asked || *end != 0 || !make_engine()) return;
  find_recorder();
  waits_for_agent = dlsym(RTLD_DEFAULT, "Py_BytesMain") != nullptr;
  const Lock lock;
  begin();
  gap = number;
  set_mode(kOn | (gap == 0 ? kExact : kOff), kOn | kExact);
}

}  // namespace sonde::memory

__attribute__((visibility("default"))) const sonde::memory::Interface* sonde_memory_interface(
    std::uint32_t version) {
  using namespace sonde::memory;
  if (version != kInterfaceVersion) return nullptr;
  static Interface interface = {
      kInterfaceVersion, false,    start,  pause, finish, wrap_allocator, watch,
      activity,          set_look, totals, quiet};
  interface.preloaded = hooks_in_use();
  return &interface;
}
