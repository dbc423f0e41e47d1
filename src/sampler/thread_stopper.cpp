#include "sampler/thread_stopper.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "sampler/task_clock.hpp"
#include "system/proc_files.hpp"
#include "system/process_tree.hpp"

namespace sonde {
namespace {

constexpr std::uint64_t kSpinNanos = 20'000;
constexpr std::uint64_t kLongestWait = 50'000'000;
constexpr int kEventStop = 128;  // PTRACE_EVENT_STOP

void pause_for(std::uint64_t nanos) {
  const timespec time{0, static_cast<long>(nanos)};
  ::nanosleep(&time, nullptr);
}

char state_of(pid_t process, pid_t thread) {
  char state = 0;
  std::uint64_t ticks = 0;
  const std::string path =
      "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat";
  return parse_task_stat(read_small_file(path), state, ticks) ? state : 'X';
}

// A thread that ended while it was seized stays until its tracer has looked at it. The program that
// `sonde run` started is left to the one who waits for it.
void bury(pid_t process, pid_t thread) {
  ProcessStat stat;
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  const bool own_child = process == thread && parse_process_stat(read_small_file(path), stat) &&
                         stat.parent == ::getpid();
  if (!own_child) ::waitpid(thread, nullptr, WNOHANG | __WALL);
}

// Whether the thread is stopped for us; `signal` is what it was about to get, 0 for none.
bool has_stopped(pid_t thread, int& signal) {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info) == 0) {
    signal = (info.si_code >> 8) == kEventStop ? 0 : info.si_signo;
    return true;
  }
  signal = 0;
  return errno == EINVAL;  // stopped by a job-control signal
}

void let_go(pid_t thread, int signal) {
  ::ptrace(PTRACE_DETACH, thread, nullptr, reinterpret_cast<void*>(static_cast<long>(signal)));
}

}  // namespace

std::uint64_t monotonic_nanos() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

ThreadStopper::~ThreadStopper() {
  release();
  for (int i = 0; i < 1000 && !release_late(); ++i) pause_for(1'000'000);
}

bool ThreadStopper::is_late(pid_t thread) const {
  return std::any_of(late_.begin(), late_.end(),
                     [&](const Held& held) { return held.thread == thread; });
}

ThreadStopper::Outcome ThreadStopper::stop(pid_t process, pid_t thread) {
  release();
  if (is_late(thread)) return Outcome::Late;
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    return errno == ESRCH ? Outcome::Gone : Outcome::Refused;
  }
  ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
  const std::uint64_t start = monotonic_nanos();
  std::uint64_t pause = 15'000;
  for (;;) {
    int signal = 0;
    if (has_stopped(thread, signal)) {
      held_ = {process, thread};
      stop_time_ = monotonic_nanos();
      ++stops_;
      return Outcome::Stopped;
    }
    const std::uint64_t waited = monotonic_nanos() - start;
    if (waited < kSpinNanos) continue;
    const char state = state_of(process, thread);
    if (state == 'Z' || state == 'X') {
      bury(process, thread);
      return Outcome::Gone;
    }
    if (waited > kLongestWait) {
      late_.push_back({process, thread});
      return Outcome::Late;
    }
    pause_for(pause);
    pause = std::min<std::uint64_t>(pause * 3 / 2, 1'000'000);
  }
}

void ThreadStopper::release() {
  if (held_.thread == 0) return;
  int signal = 0;
  const pid_t thread = held_.thread;
  // A signal that arrived just as it stopped is handed on.
  if (has_stopped(thread, signal)) {
    let_go(thread, signal);
  } else {
    bury(held_.process, thread);  // killed while it was held
  }
  stopped_nanos_ += monotonic_nanos() - stop_time_;
  held_ = {};
}

bool ThreadStopper::release_late() {
  std::erase_if(late_, [](const Held& held) {
    int signal = 0;
    if (has_stopped(held.thread, signal)) {
      let_go(held.thread, signal);
      return true;
    }
    const char state = state_of(held.process, held.thread);
    if (state != 'Z' && state != 'X') return false;
    bury(held.process, held.thread);
    return true;
  });
  return late_.empty();
}

}  // namespace sonde
