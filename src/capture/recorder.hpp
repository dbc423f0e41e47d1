#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sonde/sonde.h"
#include "trace/file_format.hpp"

// The parts of the recorder and what they know of each other.
//
// Law of this folder: nothing but the C library; no exceptions, no allocation but mmap, nothing
// that prints or ends the process. The hot path is inline in sonde.h. Everything here runs with the
// thread's `busy` set (Guard), so that a signal handler that records stays out, and most of it
// under one lock (Lock), which is only ever taken inside of a Guard.

namespace sonde::capture {

inline constexpr std::uint32_t kNone = 0xFFFF'FFFFu;
inline constexpr std::uint32_t kMaxRegions = 1024;
inline constexpr std::size_t kMaxPath = 4096;

// Consecutive chunks that were reserved and mapped together.
struct Region {
  char* address;
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t mapped;  // chunks; more than `count` after a trim
};

// Where names, and records that are never lost to the ring, are appended. Used under the lock.
struct Appender {
  char* next;
  char* end;
};

// One file. Lives from start to stop, and then until the last thread has left its chunk.
struct Session {
  file::FileHeader* header;  // mapped by itself: a forked child still has it
  int fd;
  dev_t device;
  ino_t inode;
  std::uint32_t max_chunks;
  bool keep_last;
  bool ended;
  std::uint32_t chunks;    // made
  std::uint32_t reserved;  // have their space and their mapping
  std::uint32_t permanent;
  std::uint32_t renewals;
  std::uint32_t users;      // threads, and one for being the current session
  std::uint32_t preparing;  // threads that prepare a chunk: `fd` stays open for them
  std::uint64_t sequence;
  std::uint32_t partial;        // chunks that ended threads left half empty
  std::uint32_t retired_first;  // full chunks, oldest first; kept for the ring only
  std::uint32_t retired_last;
  Appender names;
  Appender kept;
  std::atomic<bool> full;
  std::atomic<std::uint32_t> region_count;
  Region regions[kMaxRegions];
  char path[kMaxPath];
};

// What the recorder knows of a thread. In thread-local storage: found without a call, and gone with
// the thread. On the list of all threads from its first record to its end.
struct ThreadState {
  Session* session;
  ThreadState* next;
  ThreadState** link;  // what points to this one
  sonde_cursor* cursor;
  std::uint64_t* chunk_end;
  std::uint32_t chunk;
  std::uint32_t spare;      // chunks that are prepared for this thread and not begun
  std::uint32_t spare_end;  // behind the last of them
  std::uint32_t filled;     // chunks of this session
  std::uint32_t id;
  std::uint32_t name;
  std::uint32_t exits;       // how often the thread's end was announced
  std::uint32_t generation;  // the process_generation that all this belongs to
  std::uint64_t* own_end;    // where the cursor finds its end if there is no slot for it
};

extern __thread ThreadState thread_state __attribute__((tls_model("initial-exec")));
extern std::atomic<Session*> current_session;

// forks.cpp
extern std::uint32_t process_generation;
// What the cursor of a thread without a session says of its end: nullptr, always.
extern std::uint64_t* no_end;
void register_fork_handlers();
// Finds out whether this process is a child that fork handlers did not see, and then begins anew.
// Inside of a Guard.
void notice_fork();
bool forked_unnoticed();
// A place for the end of a thread's room that a child finds empty. Under the lock, for the calling
// thread.
std::uint64_t** take_slot();
void give_slot_back(std::uint64_t** slot);

// Keeps signal handlers out of the recorder while it is at work on this thread.
class Guard {
 public:
  Guard() : entered_(sonde_cursor_.busy == 0) {
    if (entered_) sonde_cursor_.busy = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (entered_) notice_fork();
  }
  ~Guard() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (entered_) sonde_cursor_.busy = 0;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  bool entered_;
};

extern pthread_mutex_t global_lock;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&global_lock); }
  ~Lock() { pthread_mutex_unlock(&global_lock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

template <typename T>
void store(T& place, T value) {
  __atomic_store(&place, &value, __ATOMIC_RELAXED);
}

inline void set_end(const sonde_cursor& cursor, std::uint64_t* end) {
  if (cursor.end != &no_end) store(*cursor.end, end);
}

// clock.cpp
std::uint64_t exact_ticks_per_second();
std::uint64_t guessed_ticks_per_second();
file::ClockReading read_clocks();
void renew_clock(file::FileHeader& header);

// storage.cpp: the file below a session
int open_storage(Session& session, const char* folder);
void close_storage(Session& session);
// Reserves and maps room for more chunks. 0, or an errno.
int grow_storage(Session& session);
// Closes the descriptor, now or when nobody prepares a chunk any more. Under the lock.
void close_file(Session& session);
// Gives back what was reserved and not used.
void trim_storage(Session& session);
bool owns_file(const Session& session);
char* chunk_address(const Session& session, std::uint32_t chunk);
// Makes all pages of `count` chunks present and writable; `fresh`: they were never used. 0, or an
// errno. Needs no lock, but the file stays open only while `preparing` counts the caller.
inline constexpr std::uint32_t kMostAtOnce = 4;
int prepare_chunks(const Session& session, std::uint32_t first, std::uint32_t count, bool fresh);

// chunks.cpp
// Room for `count` records in the thread's chunk, all in one piece.
bool make_room(std::size_t count);
void leave_chunk(ThreadState& thread);
// Room in a chunk that no ring reuses; nullptr where there is none. Under the lock.
char* append(Session& session, Appender& appender, file::ChunkType type, std::size_t bytes);

// names.cpp
enum class NameKind : std::uint32_t { Name, Domain };
// The id, or 0 where it cannot be kept.
std::uint32_t intern(NameKind kind, const char* text);
// Under the lock.
std::uint32_t intern_locked(NameKind kind, const char* text);
bool write_names(Session& session);

// threads.cpp
void register_handlers();
// Binds the thread to the session that records now; nullptr: there is none. Under the lock.
Session* attach_thread(ThreadState& thread);
void detach_thread(ThreadState& thread);
void invalidate_cursors(const Session& session);
// In a child: no other thread is here, and nothing that this one has is its own.
void forget_threads();
void forget_own_thread();

// session.cpp
// The session that records, made anew in a forked child. Under the lock.
Session* session_for_record();
void forget_session_in_child();
void unuse(Session& session);
void update_recording();
void note_drops(Session& session);
int start_session(const char* folder);
void start_from_environment();

// records.cpp
void count_drop(bool in_signal);
// Writes all of them in one piece, or counts one loss.
void write_group(const file::Record* records, std::size_t count);
// A record that the ring must not lose. Under the lock.
void write_kept(Session& session, const file::Record& record);

// signals.cpp
void end_dumps();
bool dump_running();

// steps.cpp
void forget_steps();
bool schedule_active();

}  // namespace sonde::capture
