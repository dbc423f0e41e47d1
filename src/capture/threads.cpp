#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/recorder.hpp"

namespace sonde::capture {

__thread ThreadState thread_state = {nullptr, nullptr, nullptr, nullptr, nullptr, kNone, 0,
                                     0,       0,       0,       0,       0,       1,     nullptr};
pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;

namespace {

// Another library's destructor may record after ours has run: then ours is called again. After the
// last round nobody would take the thread off the list.
constexpr std::uint32_t kLastExit = 4;

ThreadState* all_threads;
pthread_key_t exit_key;
bool have_exit_key;
void unlist(ThreadState& thread) {
  if (!thread.link) return;
  *thread.link = thread.next;
  if (thread.next) thread.next->link = thread.link;
  thread.link = nullptr;
}

void on_thread_exit(void*) {
  const Guard guard;
  if (!guard) return;
  ThreadState& thread = thread_state;
  ++thread.exits;
  const Lock lock;
  detach_thread(thread);
}

void write_thread_name(Session& session, ThreadState& thread) {
  std::uint32_t name = thread.name;
  if (name == 0) {
    char text[17] = {};
    if (prctl(PR_GET_NAME, text) != 0 || text[0] == 0) return;
    // Every thread starts with its maker's name: the program's own says nothing.
    if (strncmp(text, session.header->program, 15) == 0) return;
    name = intern_locked(NameKind::Name, text);
    if (name == 0) return;
  }
  write_kept(session, {sonde_ticks(), thread.id, 0,
                       file::make_word(name, 0, file::RecordType::ThreadName, 0)});
}

}  // namespace

void register_handlers() {
  have_exit_key = pthread_key_create(&exit_key, on_thread_exit) == 0;
  register_fork_handlers();
}

Session* attach_thread(ThreadState& thread) {
  Session* const session = session_for_record();
  if (!session || thread.session == session) return session;
  detach_thread(thread);
  if (thread.exits >= kLastExit) return nullptr;
  if (have_exit_key) pthread_setspecific(exit_key, &thread);
  if (thread.id == 0) thread.id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  thread.cursor = &sonde_cursor_;
  sonde_cursor_.end = take_slot();
  set_end(sonde_cursor_, nullptr);
  thread.chunk = kNone;
  thread.next = all_threads;
  thread.link = &all_threads;
  if (all_threads) all_threads->link = &thread.next;
  all_threads = &thread;
  ++session->users;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.session = session;
  write_thread_name(*session, thread);
  return session;
}

void detach_thread(ThreadState& thread) {
  Session* const session = thread.session;
  if (!session) return;
  leave_chunk(thread);
  unlist(thread);
  give_slot_back(thread.cursor->end);
  thread.cursor->end = &no_end;
  // A handler that counts a loss finds either a session that is there, or none.
  thread.session = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  unuse(*session);
}

void invalidate_cursors(const Session& session) {
  for (ThreadState* thread = all_threads; thread; thread = thread->next) {
    if (thread->session == &session) {
      set_end(*thread->cursor, nullptr);
    }
  }
}

void forget_threads() { all_threads = nullptr; }

void forget_own_thread() {
  ThreadState& thread = thread_state;
  sonde_cursor_.next = nullptr;
  sonde_cursor_.end = &no_end;
  thread.session = nullptr;
  thread.link = nullptr;
  thread.next = nullptr;
  thread.chunk = kNone;
  thread.spare = thread.spare_end = thread.filled = 0;
  thread.id = 0;
  thread.generation = process_generation;
}

}  // namespace sonde::capture

void sonde_name_thread(const char* name) {
  using namespace sonde::capture;
  using namespace sonde::file;
  if (!name) return;
  const Guard guard;
  if (!guard) return count_drop(true);
  const Lock lock;
  ThreadState& thread = thread_state;
  thread.name = intern_locked(NameKind::Name, name);
  if (thread.name == 0 || !thread.session ||
      thread.session != current_session.load(std::memory_order_relaxed)) {
    return;  // written with the thread's first record
  }
  write_kept(*thread.session,
             {sonde_ticks(), thread.id, 0, make_word(thread.name, 0, RecordType::ThreadName, 0)});
}
