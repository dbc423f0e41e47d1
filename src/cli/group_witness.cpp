#include "cli/group_witness.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace sonde {
namespace {

// A signal to a group reaches its members one after the other, within microseconds.
constexpr long kSpreadNanos = 1'000'000;
constexpr int kPatienceMillis = 1000;

// The program's streams must end when the program closes them.
void close_all_but(int kept) {
  constexpr int kFirst = 3;
  ::dup2(kept, kFirst);
  if (::syscall(SYS_close_range, kFirst + 1, ~0U, 0) != 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 16));
    for (int fd = kFirst + 1; fd < end; ++fd) ::close(fd);
  }
  for (int fd = 0; fd < kFirst; ++fd) ::close(fd);
  ::dup2(kFirst, 0);
  ::close(kFirst);
}

// Answers until Sonde closes its end, or dies.
[[noreturn]] void bear_witness(int socket) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::prctl(PR_SET_NAME, "sonde-witness");
  close_all_but(socket);
  unsigned char signal = 0;
  for (;;) {
    const ssize_t got = ::read(0, &signal, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) ::_exit(0);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    const timespec at_once{0, 0};
    const unsigned char seen = ::sigtimedwait(&one, nullptr, &at_once) == signal;
    if (::write(0, &seen, 1) != 1) ::_exit(0);
  }
}

}  // namespace

GroupWitness GroupWitness::start() {
  GroupWitness out;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return out;
  const pid_t pid = ::fork();
  if (pid == 0) bear_witness(ends[1]);
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return out;
  }
  out.pid_ = pid;
  out.socket_ = ends[0];
  return out;
}

bool GroupWitness::saw(int signal) const {
  if (socket_ < 0) return false;
  const timespec spread{0, kSpreadNanos};
  ::nanosleep(&spread, nullptr);
  const auto question = static_cast<unsigned char>(signal);
  unsigned char seen = 0;
  pollfd answer{socket_, POLLIN, 0};
  return ::send(socket_, &question, 1, MSG_NOSIGNAL) == 1 &&
         ::poll(&answer, 1, kPatienceMillis) == 1 && ::read(socket_, &seen, 1) == 1 && seen != 0;
}

void GroupWitness::stop() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (pid_ > 0) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
  }
}

}  // namespace sonde
