#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/cuda/collector.hpp"
#include "sonde/sonde.h"

// The recorder's own thread: makes room ahead of the need, asks CUPTI for its records from time to
// time, so that a program that is killed loses little, and notices other tools.
//
// Another tool that registers with CUPTI takes the records over without a word. So the thread makes
// a call of its own now and then: when the record of it does not come back, somebody else has it.

namespace sonde::capture::cuda {

using cupti::State;

namespace {

constexpr std::int64_t kUsualPause = 1'000'000'000;
// While a program launches much, full buffers come by themselves, and a flush would only hold it
// up.
constexpr std::int64_t kBusyFactor = 5;
constexpr std::uint64_t kBusyBytes = 1 << 20;
constexpr std::int64_t kFirstPause = 50'000'000;
constexpr std::uint32_t kEarlyTurns = 10;  // after them the own call is made less often
constexpr std::uint32_t kSeldom = 10;
constexpr std::uint32_t kPatience = 3;  // calls that were not heard of

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition;
pthread_t thread;
bool running;
bool woken;
bool ending;
Driver driver;
bool have_driver;
bool have_devices;
std::uint32_t turns;
std::uint32_t unheard;
bool yielded_on_request;
std::uint64_t seen_bytes;  // at the last flush
// Held while the state of the collection is looked at and changed.
pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

std::int64_t pause_from_environment() {
  const char* const text = secure_getenv("SONDE_CUDA_FLUSH_MS");
  const long number = text ? atol(text) : 0;
  return number > 0 && number < 3'600'000 ? number * 1'000'000 : kUsualPause;
}

// Whether the thread was told to end.
bool wait(std::int64_t nanoseconds) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  nanoseconds += until.tv_nsec;
  until.tv_sec += nanoseconds / 1'000'000'000;
  until.tv_nsec = nanoseconds % 1'000'000'000;
  pthread_mutex_lock(&mutex);
  while (!woken && !ending && pthread_cond_timedwait(&condition, &mutex, &until) != ETIMEDOUT) {
  }
  woken = false;
  const bool over = ending;
  pthread_mutex_unlock(&mutex);
  return over;
}

void note_takeover() {
  cupti::FileHeader& file = header();
  ++file.other_tool_seen;
  file.other_tool_from = sonde_ticks();
  file.other_tool_until = 0;
  __atomic_store_n(&file.state, State::Yielded, __ATOMIC_RELEASE);
}

void check_for_others() {
  if (heard_own_call()) {
    unheard = 0;
    return;
  }
  if (++unheard < kPatience) return;
  unheard = 0;
  if (other_tool_present()) return note_takeover();
  // Somebody was here and has gone: what it switched off is switched on again.
  note_takeover();
  resume_collecting();
}

void take_turn(std::int64_t now, std::int64_t& next_flush, std::int64_t pause) {
  prepare_room();
  if (now < next_flush) return;
  const std::uint64_t bytes = returned_bytes();
  next_flush = now + (bytes - seen_bytes > kBusyBytes ? kBusyFactor * pause : pause);
  seen_bytes = bytes;
  ++turns;
  if (!have_driver) have_driver = find_driver(driver);
  if (have_driver && !have_devices) {
    have_devices = note_devices(driver);
    int version = 0;
    if (driver.cuDriverGetVersion(&version) == 0) {
      header().driver_version = static_cast<std::uint32_t>(version);
    }
  }
  sonde_renew_clock_();
  switch (header().state) {
    case State::Collecting: {
      renew_places();
      const bool asks =
          have_devices && (turns < kEarlyTurns || unheard > 0 || turns % kSeldom == 0);
      int ignored = 0;
      if (asks) driver.cuDriverGetVersion(&ignored);
      flush(false);
      if (asks) check_for_others();
      return;
    }
    case State::Yielded:
      if (!yielded_on_request && !other_tool_present()) resume_collecting();
      return;
    default:
      return;
  }
}

std::int64_t now_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void* help(void*) {
  prctl(PR_SET_NAME, "sonde-gpu");
  header().helper_thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const std::int64_t pause = pause_from_environment();
  std::int64_t next_flush = now_nanoseconds() + kFirstPause;
  bool stopped = false;
  for (;;) {
    const std::int64_t now = now_nanoseconds();
    pthread_mutex_lock(&turn);
    take_turn(now, next_flush, pause);
    if (!stopped && header().state == State::Full) {
      stopped = true;
      stop_collecting();
    }
    pthread_mutex_unlock(&turn);
    const std::int64_t left = next_flush - now_nanoseconds();
    if (wait(left > 1'000'000 ? left : 1'000'000)) return nullptr;
  }
}

}  // namespace

bool start_helper() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&condition, &attributes);
  pthread_condattr_destroy(&attributes);
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  running = pthread_create(&thread, nullptr, help, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return running;
}

void wake_helper() {
  if (!running || pthread_mutex_trylock(&mutex) != 0) return;
  woken = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}

void yield_to(const char* tool) {
  pthread_mutex_lock(&turn);
  cupti::FileHeader& file = header();
  if (running && file.state == State::Collecting) {
    // Nothing of ours may be with CUPTI when the other one comes: it would get it.
    stop_collecting();
    flush(true);
    std::size_t i = 0;
    for (; tool && tool[i] && i + 1 < sizeof file.other_tool; ++i) file.other_tool[i] = tool[i];
    file.other_tool[i] = 0;
    yielded_on_request = true;
    note_takeover();
  }
  pthread_mutex_unlock(&turn);
}

void take_over_again() {
  pthread_mutex_lock(&turn);
  if (running && yielded_on_request && header().state == State::Yielded) resume_collecting();
  yielded_on_request = false;
  unheard = 0;
  pthread_mutex_unlock(&turn);
}

void stop_helper() {
  if (!running) return;
  pthread_mutex_lock(&mutex);
  ending = true;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 2;
  running = false;
  if (pthread_timedjoin_np(thread, nullptr, &until) != 0 || have_devices) return;
  // A program that was over before the first turn.
  if (have_driver || find_driver(driver)) note_devices(driver);
}

}  // namespace sonde::capture::cuda
