#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/recorder.hpp"
#include "capture/size_text.hpp"

namespace sonde::capture {

std::atomic<Session*> current_session{nullptr};

namespace {

constexpr std::uint32_t kFewestChunks = 4;

std::uint64_t limit_bytes;
file::Limit limit_choice;
bool paused;
bool reopen;  // in a forked child: at its first record
char folder_of_run[kMaxPath];
std::uint32_t process_name;
std::atomic<std::uint64_t> early_drops{0};
std::atomic<std::uint64_t> early_signal_drops{0};

void name_program(char* name, std::size_t size) {
  const char* text = program_invocation_short_name;
  if (!text || !*text) text = "program";
  std::size_t i = 0;
  for (; text[i] && i + 1 < size; ++i) name[i] = text[i] == '/' ? '_' : text[i];
  name[i] = 0;
}

// One more than the number in the environment; 0 where there is none.
std::uint32_t number_and_1(const char* variable) {
  const char* const text = secure_getenv(variable);
  if (!text || *text < '0' || *text > '9') return 0;
  char* end = nullptr;
  const unsigned long number = strtoul(text, &end, 10);
  return *end == 0 && number < (1u << 30) ? static_cast<std::uint32_t>(number) + 1 : 0;
}

// Launchers of several processes tell each of them who it is.
void fill_rank(file::FileHeader& header) {
  struct Variables {
    const char* rank;
    const char* world_size;
    const char* local_rank;
  };
  constexpr Variables kLaunchers[] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
  };
  for (const Variables& names : kLaunchers) {
    const std::uint32_t rank = number_and_1(names.rank);
    const std::uint32_t size = number_and_1(names.world_size);
    if (rank == 0 || size <= rank) continue;
    header.rank_and_1 = rank;
    header.world_size_and_1 = size;
    header.local_rank_and_1 = number_and_1(names.local_rank);
    return;
  }
}

void fill_header(file::FileHeader& header) {
  header.version = file::kVersion;
  header.chunk_bytes = file::kChunkBytes;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.parent_pid = static_cast<std::uint32_t>(getppid());
  header.ticks_per_second = exact_ticks_per_second();
  header.ticks_per_second_guess = guessed_ticks_per_second();
  header.first = read_clocks();
  header.latest[0] = header.first;
  header.max_bytes = limit_bytes;
  header.limit = limit_choice;
  name_program(header.program, sizeof header.program);
  fill_rank(header);
}

void free_session(Session& session) { munmap(&session, sizeof session); }

void write_process_name(Session& session) {
  if (process_name == 0) return;
  write_kept(session, {sonde_ticks(), 0, 0,
                       file::make_word(process_name, 0, file::RecordType::ProcessName, 0)});
}

int open_session(const char* folder) {
  void* const memory =
      mmap(nullptr, sizeof(Session), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  Session& session = *static_cast<Session*>(memory);
  file::FileHeader draft{};
  fill_header(draft);
  session.header = &draft;
  if (limit_bytes) {
    const std::uint64_t places = limit_bytes / file::kChunkBytes;
    session.max_chunks = places <= kFewestChunks ? kFewestChunks
                         : places > kNone / 2    ? kNone / 2
                                                 : static_cast<std::uint32_t>(places - 1);
  }
  session.keep_last = limit_bytes && limit_choice == file::Limit::KeepLast;
  session.partial = session.retired_first = session.retired_last = kNone;
  session.users = 1;
  if (const int error = open_storage(session, folder)) {
    free_session(session);
    return error;
  }
  if (!write_names(session)) {
    const auto error = static_cast<int>(session.header->drop_reason);
    unlink(session.path);
    close_storage(session);
    free_session(session);
    return error ? error : ENOSPC;
  }
  write_process_name(session);
  current_session.store(&session, std::memory_order_release);
  return 0;
}

void write_schedule(bool on) {
  Session* const session = current_session.load(std::memory_order_relaxed);
  if (!session) return;
  write_kept(*session,
             {sonde_ticks(), on, 0, file::make_word(0, 0, file::RecordType::Schedule, 0)});
}

}  // namespace

void note_drops(Session& session) {
  if (const std::uint64_t lost = early_drops.exchange(0, std::memory_order_relaxed)) {
    __atomic_fetch_add(&session.header->dropped_records, lost, __ATOMIC_RELAXED);
  }
  if (const std::uint64_t lost = early_signal_drops.exchange(0, std::memory_order_relaxed)) {
    __atomic_fetch_add(&session.header->dropped_in_signals, lost, __ATOMIC_RELAXED);
  }
}

void count_drop(bool in_signal) {
  // In a child that nobody told of, the session is the parent's: it is not there any more, or not
  // ours to count in.
  Session* const session = thread_state.session;
  if (session && !forked_unnoticed() && thread_state.generation == process_generation) {
    __atomic_fetch_add(&session->header->dropped_records, std::uint64_t{1}, __ATOMIC_RELAXED);
    if (in_signal) {
      __atomic_fetch_add(&session->header->dropped_in_signals, std::uint64_t{1}, __ATOMIC_RELAXED);
    }
    return;
  }
  early_drops.fetch_add(1, std::memory_order_relaxed);
  if (in_signal) early_signal_drops.fetch_add(1, std::memory_order_relaxed);
}

void update_recording() {
  const bool open = current_session.load(std::memory_order_relaxed) || reopen;
  const int on = open && !paused && schedule_active();
  if (on == sonde_recording_) return;
  if (open) write_schedule(on);
  __atomic_store_n(&sonde_recording_, on, __ATOMIC_RELAXED);
}

Session* session_for_record() {
  if (reopen) {
    reopen = false;
    if (open_session(folder_of_run) != 0) update_recording();
  }
  return current_session.load(std::memory_order_relaxed);
}

void forget_session_in_child() {
  Session* const session = current_session.load(std::memory_order_relaxed);
  early_drops.store(0, std::memory_order_relaxed);
  early_signal_drops.store(0, std::memory_order_relaxed);
  if (!session) return;
  current_session.store(nullptr, std::memory_order_relaxed);
  munmap(session->header, file::kHeaderBytes);
  if (owns_file(*session)) close(session->fd);
  free_session(*session);
  end_dumps();
  forget_steps();
  reopen = true;
}

void unuse(Session& session) {
  if (--session.users > 0) return;
  // Rather a mapping too many than one too few under a dump.
  if (dump_running()) return;
  close_storage(session);
  free_session(session);
}

int start_session(const char* folder) {
  if (current_session.load(std::memory_order_relaxed)) return 0;
  if (!folder || !*folder) return EINVAL;
  const std::size_t size = strlen(folder);
  if (size >= kMaxPath) return ENAMETOOLONG;
  reopen = false;
  if (const int error = open_session(folder)) return error;
  // The folder as it was found: a child may be somewhere else.
  strcpy(folder_of_run, current_session.load(std::memory_order_relaxed)->path);
  *strrchr(folder_of_run, '/') = 0;
  if (!folder_of_run[0]) strcpy(folder_of_run, "/");
  paused = false;
  __atomic_store_n(&sonde_recording_, schedule_active() ? 1 : 0, __ATOMIC_RELAXED);
  return 0;
}

void start_from_environment() {
  const char* const folder = secure_getenv("SONDE_RUN_DIR");
  if (!folder || !*folder) return;
  std::uint64_t bytes = 0;
  const char* size = secure_getenv("SONDE_KEEP_LAST");
  if (size && parse_size(size, bytes)) {
    sonde_set_limit(bytes, SONDE_LIMIT_KEEP_LAST);
  } else {
    size = secure_getenv("SONDE_MAX_SIZE");
    if (size && parse_size(size, bytes)) sonde_set_limit(bytes, SONDE_LIMIT_STOP);
  }
  if (sonde_start(folder) != 0) return;
  if (const char* const signal = secure_getenv("SONDE_DUMP_SIGNAL")) {
    sonde_dump_on_signal(atoi(signal));
  }
}

namespace {

// Threads may go on until the process ends: everything stays mapped.
__attribute__((destructor)) void at_exit() {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  Session* const session = current_session.load(std::memory_order_relaxed);
  if (!session) return;
  note_drops(*session);
  renew_clock(*session->header);
  trim_storage(*session);
  store(session->header->clean_end, 1u);
}

}  // namespace
}  // namespace sonde::capture

using namespace sonde::capture;

int sonde_start(const char* folder) {
  const Guard guard;
  if (!guard) return EBUSY;
  const Lock lock;
  return start_session(folder);
}

void sonde_stop() {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  reopen = false;
  Session* const session = current_session.load(std::memory_order_relaxed);
  current_session.store(nullptr, std::memory_order_seq_cst);
  __atomic_store_n(&sonde_recording_, 0, __ATOMIC_RELAXED);
  if (!session) return;
  invalidate_cursors(*session);
  note_drops(*session);
  renew_clock(*session->header);
  trim_storage(*session);
  close_file(*session);
  session->ended = true;
  store(session->header->clean_end, 1u);
  unuse(*session);
}

void sonde_pause() {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  paused = true;
  update_recording();
}

void sonde_resume() {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  paused = false;
  update_recording();
}

void sonde_flush() {
  const Guard guard;
  if (!guard) return;
  int fd = -1;
  {
    const Lock lock;
    Session* const session = current_session.load(std::memory_order_relaxed);
    if (!session || !owns_file(*session)) return;
    note_drops(*session);
    renew_clock(*session->header);
    fd = fcntl(session->fd, F_DUPFD_CLOEXEC, session->fd);
  }
  if (fd < 0) return;
  fdatasync(fd);
  close(fd);
}

void sonde_renew_clock_() {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  if (Session* const session = current_session.load(std::memory_order_relaxed)) {
    renew_clock(*session->header);
  }
}

void sonde_set_limit(std::uint64_t bytes, sonde_limit limit) {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  limit_bytes = bytes;
  limit_choice = static_cast<sonde::file::Limit>(limit);
}

int sonde_path(char* path, std::size_t size) {
  if (size == 0) return 0;
  path[0] = 0;
  const Guard guard;
  if (!guard) return 0;
  const Lock lock;
  const Session* const session = session_for_record();
  if (!session || strlen(session->path) >= size) return 0;
  strcpy(path, session->path);
  return 1;
}

void sonde_name_process(const char* name) {
  if (!name) return;
  const Guard guard;
  if (!guard) return count_drop(true);
  const Lock lock;
  process_name = intern_locked(NameKind::Name, name);
  if (Session* const session = current_session.load(std::memory_order_relaxed)) {
    write_process_name(*session);
  }
}
