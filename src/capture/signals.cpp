#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/recorder.hpp"

// Everything below sonde_dump() may run in a signal handler: no lock, no memory but its own.

namespace sonde::capture {
namespace {

constexpr std::size_t kWords = file::kChunkBytes / sizeof(std::uint64_t);
constexpr std::size_t kHeaderWords = sizeof(file::ChunkHeader) / sizeof(std::uint64_t);

std::atomic<int> dumps{0};
std::atomic<bool> buffer_taken{false};
std::atomic<std::uint32_t> dump_number{0};
std::uint64_t buffer[kWords];

int write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

std::uint64_t load(const std::uint64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

// While threads write on. The last word of a record is read first: once it is there, so is the
// rest.
void copy_chunk(const char* chunk) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(chunk);
  memset(buffer, 0, sizeof buffer);
  std::uint64_t header[kHeaderWords];
  for (std::size_t i = 0; i < kHeaderWords; ++i) header[i] = load(words + i);
  if (static_cast<std::uint32_t>(header[0]) != file::kChunkMagic) return;
  const bool names = header[0] >> 32 == static_cast<std::uint32_t>(file::ChunkType::Names);
  if (names) {
    for (std::size_t i = kHeaderWords; i < kWords; ++i) buffer[i] = load(words + i);
  } else {
    for (std::size_t i = kHeaderWords; i + 4 <= kWords; i += 4) {
      const std::uint64_t word = load(words + i + 3);
      if (word == 0) break;
      for (std::size_t j = 0; j < 3; ++j) buffer[i + j] = load(words + i + j);
      buffer[i + 3] = word;
    }
  }
  // The ring may have taken the chunk meanwhile: then it is left out.
  if (load(words) != header[0] || load(words + 1) != header[1]) {
    memset(buffer, 0, sizeof buffer);
    return;
  }
  memcpy(buffer, header, sizeof header);
}

int copy_session(const Session& session, int fd) {
  const auto* const page = reinterpret_cast<const std::uint64_t*>(session.header);
  memset(buffer, 0, sizeof buffer);
  for (std::size_t i = 0; i < sizeof(file::FileHeader) / sizeof *page; ++i) {
    buffer[i] = load(page + i);
  }
  auto& header = *reinterpret_cast<file::FileHeader*>(buffer);
  header.clean_end = 1;
  renew_clock(header);
  const auto chunks = static_cast<std::uint32_t>(header.chunks);
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      file::chunk_offset(chunks) > limit.rlim_cur) {
    return EFBIG;
  }
  if (const int error = write_all(fd, buffer, sizeof buffer)) return error;
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const char* const chunk = chunk_address(session, i);
    if (chunk) {
      copy_chunk(chunk);
    } else {
      memset(buffer, 0, sizeof buffer);
    }
    if (const int error = write_all(fd, buffer, sizeof buffer)) return error;
  }
  return 0;
}

// `<recording>.dump-<number>`: not one more process of the run.
bool name_dump(const Session& session, char* path) {
  constexpr char kSuffix[] = ".dump-";
  const std::size_t size = strlen(session.path);
  if (size + sizeof kSuffix + 10 > kMaxPath) return false;
  memcpy(path, session.path, size);
  memcpy(path + size, kSuffix, sizeof kSuffix - 1);
  char digits[10];
  std::size_t count = 0;
  std::uint32_t number = dump_number.fetch_add(1, std::memory_order_relaxed) + 1;
  for (; number; number /= 10) digits[count++] = static_cast<char>('0' + number % 10);
  char* at = path + size + sizeof kSuffix - 1;
  while (count) *at++ = digits[--count];
  *at = 0;
  return true;
}

int dump(const char* path) {
  static char own_path[kMaxPath];
  const Session* const session = current_session.load(std::memory_order_seq_cst);
  if (!session || forked_unnoticed()) return ENOENT;
  if (!path) {
    if (!name_dump(*session, own_path)) return ENAMETOOLONG;
    path = own_path;
  }
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  int error = copy_session(*session, fd);
  if (close(fd) != 0 && !error) error = errno;
  return error;
}

void on_request(int) {
  const int saved = errno;
  sonde_dump(nullptr);
  errno = saved;
}

// The signal takes its usual course as soon as the handler returns.
void on_crash(int signal) {
  const int saved = errno;
  sonde_dump(nullptr);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
  errno = saved;
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

bool dump_running() { return dumps.load(std::memory_order_seq_cst) > 0; }

void end_dumps() {
  dumps.store(0, std::memory_order_relaxed);
  buffer_taken.store(false, std::memory_order_relaxed);
  dump_number.store(0, std::memory_order_relaxed);
}

}  // namespace sonde::capture

using namespace sonde::capture;

int sonde_dump(const char* path) {
  if (buffer_taken.exchange(true, std::memory_order_acquire)) return EBUSY;
  dumps.fetch_add(1, std::memory_order_seq_cst);
  const int error = dump(path);
  dumps.fetch_sub(1, std::memory_order_seq_cst);
  buffer_taken.store(false, std::memory_order_release);
  return error;
}

void sonde_dump_on_signal(int signal) {
  if (signal > 0) install(signal, on_request);
  constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  for (const int crash : kCrashes) {
    struct sigaction present {};
    if (sigaction(crash, nullptr, &present) == 0 && !(present.sa_flags & SA_SIGINFO) &&
        present.sa_handler == SIG_DFL) {
      install(crash, on_crash);
    }
  }
}
