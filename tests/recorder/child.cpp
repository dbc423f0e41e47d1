// A program that records. The tests run it, kill it and look at what is left.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sonde/sonde.hpp"
#include "tests/recorder/random_program.hpp"

namespace {

sonde_name number_name = SONDE_NAME_INIT("number");

void record_number(std::uint64_t number) {
  sonde_scope scope;
  sonde_begin(&scope, &number_name, nullptr, SONDE_KIND_RANGE);
  sonde_set_id(&scope, number);
  sonde_end(&scope);
}

void record_numbers(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) record_number(first + i);
}

long argument(char** arguments, int index) { return std::atol(arguments[index]); }

// numbers PROGRESS: four threads count for ever and publish how far they are.
int numbers(char** arguments) {
  const int fd = ::open(arguments[0], O_RDWR);
  auto* const progress = static_cast<std::atomic<std::uint64_t>*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([progress, t] {
      for (std::uint64_t i = 1;; ++i) {
        record_number(t << 48 | i);
        progress[t * 8].store(i, std::memory_order_release);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// die HOW COUNT
int die(char** arguments) {
  const std::string how = arguments[0];
  record_numbers(1, static_cast<std::uint64_t>(argument(arguments, 1)));
  if (how == "abort") std::abort();
  if (how == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "_exit") ::_exit(0);
  if (how == "kill") ::raise(SIGKILL);
  return 0;
}

// forks COUNT: the child records on without exec; so does the parent.
int forks(char** arguments) {
  const auto count = static_cast<std::uint64_t>(argument(arguments, 0));
  record_numbers(1, count);
  const pid_t child = ::fork();
  if (child == 0) {
    record_numbers(1'000'001, count);
    std::thread([count] { record_numbers(2'000'001, count); }).join();
    ::_exit(0);
  }
  record_numbers(count + 1, count);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// unseen HOW COUNT: a child that fork handlers do not see records on, while another thread of the
// parent records. It ends a scope that its parent began, and leaves in order.
pid_t fork_unseen(const std::string& how) {
  if (how == "_Fork") return ::_Fork();
  return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

int unseen(char** arguments) {
  const std::string how = arguments[0];
  const auto count = static_cast<std::uint64_t>(argument(arguments, 1));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> other_count{0};
  std::thread other([&] {
    // Names and short rests of chunks: the lock is often taken.
    while (!done) {
      const std::string name = "other " + std::to_string(other_count++ % 5000);
      const sonde::Scope scope(name);
    }
  });
  while (other_count < 100) ::sched_yield();
  record_numbers(1, count);
  sonde_scope scope;
  sonde_begin(&scope, &number_name, nullptr, SONDE_KIND_RANGE);
  sonde_set_id(&scope, 1'000'000);
  const pid_t child = fork_unseen(how);
  if (child == 0) {
    sonde_end(&scope);
    record_numbers(1'000'001, count);
    sonde_dump(nullptr);
    std::exit(5);
  }
  record_numbers(count + 1, count);
  int status = 0;
  ::waitpid(child, &status, 0);
  done = true;
  other.join();
  return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 0 : 1;
}

// flush COUNT: says when it has flushed, and is killed.
int flush(char** arguments) {
  sonde_flush();
  record_numbers(1, static_cast<std::uint64_t>(argument(arguments, 0)));
  sonde_flush();
  ::raise(SIGKILL);
  return 0;
}

std::int64_t monotonic_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// ticks FOLDER: device work whose times come from another clock. Prints them.
int ticks(char** arguments) {
  if (sonde_ticks_from_ns(monotonic_now()) != 0) return 1;
  if (sonde_start(arguments[0]) != 0) return 2;
  sonde_name name = SONDE_NAME_INIT("work");
  for (int i = 0; i < 5; ++i) {
    const std::int64_t start = monotonic_now();
    ::usleep(20'000);
    const std::int64_t end = monotonic_now();
    sonde_device_work(&name, nullptr, SONDE_KIND_KERNEL, 0, 0, sonde_ticks_from_ns(start),
                      sonde_ticks_from_ns(end), 0);
    std::printf("%lld %lld\n", static_cast<long long>(start), static_cast<long long>(end));
  }
  sonde_stop();
  return sonde_ticks_from_ns(monotonic_now()) == 0 ? 0 : 3;
}

// executes COUNT: another program takes the place of this one.
int executes(char** arguments) {
  record_numbers(1, static_cast<std::uint64_t>(argument(arguments, 0)));
  ::execl("/proc/self/exe", "child", "die", "_exit", arguments[0], nullptr);
  return 1;
}

// statics: a global object records before main and after it; so does a thread at its own end.
struct Static {
  Static() {
    if (std::getenv("SONDE_TEST_STATICS")) record_number(1);
  }
  ~Static() {
    if (std::getenv("SONDE_TEST_STATICS")) record_number(4);
  }
} of_the_program;

int statics(char**) {
  std::thread([] {
    struct AtEnd {
      ~AtEnd() { record_number(3); }
    };
    thread_local AtEnd at_end;
    (void)&at_end;
    record_number(2);
  }).join();
  return 0;
}

// outlive COUNT: a detached thread records during and after exit().
int outlive(char** arguments) {
  static std::atomic<bool> leaving{false};
  static std::atomic<std::uint64_t> wanted{0};
  static std::atomic<bool> finished{false};
  wanted = static_cast<std::uint64_t>(argument(arguments, 0));
  std::thread([] {
    while (!leaving) ::sched_yield();
    record_numbers(1, wanted);
    finished = true;
  }).detach();
  record_number(0);
  // Runs after main, while the thread is at work.
  struct Last {
    ~Last() {
      leaving = true;
      while (!finished) ::sched_yield();
    }
  };
  static Last last;
  return 0;
}

// threads COUNT EACH: one after the other, four at a time.
int threads(char** arguments) {
  const long count = argument(arguments, 0);
  const auto each = static_cast<std::uint64_t>(argument(arguments, 1));
  for (long i = 0; i < count; i += 4) {
    std::thread four[4];
    for (long j = 0; j < 4; ++j) {
      four[j] = std::thread(record_numbers, static_cast<std::uint64_t>(i + j) * each + 1, each);
    }
    for (std::thread& thread : four) thread.join();
  }
  return 0;
}

// output COUNT: behaves like any program; its output and its exit code are known.
int output(char** arguments) {
  std::puts("first line");
  std::thread other(record_numbers, 1'000'000'000, 1000);
  record_numbers(1, static_cast<std::uint64_t>(argument(arguments, 0)));
  other.join();
  std::puts("last line");
  return 7;
}

// memory COUNT EARLIER: no address space is left when the first chunk is wanted, or a later one.
int memory(char** arguments) {
  std::puts("first line");
  const auto earlier = static_cast<std::uint64_t>(argument(arguments, 1));
  record_numbers(1, earlier);
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (!file || std::fscanf(file, "%ld", &pages) != 1) return 1;
  std::fclose(file);
  const rlimit limit{static_cast<rlim_t>(pages) * 4096, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
  record_numbers(earlier + 1, static_cast<std::uint64_t>(argument(arguments, 0)) - earlier);
  std::puts("last line");
  return 7;
}

// signals COUNT: a timer's handler records while the program records. Prints how often.
sonde_name signal_name = SONDE_NAME_INIT("signal");
volatile std::sig_atomic_t signals_seen = 0;

void on_timer(int) {
  sonde_scope scope;
  sonde_begin(&scope, &signal_name, nullptr, SONDE_KIND_RANGE);
  sonde_end(&scope);
  signals_seen = signals_seen + 1;
}

int signals(char** arguments) {
  record_number(0);
  on_timer(0);
  struct sigaction action {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 50}, {0, 50}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  record_numbers(1, static_cast<std::uint64_t>(argument(arguments, 0)));
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%ld\n", static_cast<long>(signals_seen));
  return 0;
}

// dump COUNT SIGNAL
int dump(char** arguments) {
  record_numbers(1, static_cast<std::uint64_t>(argument(arguments, 0)));
  ::raise(static_cast<int>(argument(arguments, 1)));
  return 0;
}

// dumping COUNT: two threads record into a ring while a third one dumps it.
int dumping(char** arguments) {
  const auto count = static_cast<std::uint64_t>(argument(arguments, 0));
  std::atomic<bool> done{false};
  std::thread dumper([&] {
    do {
      if (const int error = sonde_dump(nullptr)) std::exit(error);
    } while (!done);
  });
  std::thread first(record_numbers, std::uint64_t{1} << 32, count);
  std::thread second(record_numbers, std::uint64_t{2} << 32, count);
  first.join();
  second.join();
  done = true;
  dumper.join();
  return 0;
}

// sessions FOLDER ROUNDS: starts and stops while threads record.
int sessions(char** arguments) {
  const long rounds = argument(arguments, 1);
  std::atomic<bool> done{false};
  std::thread others[2];
  for (std::thread& other : others) {
    other = std::thread([&] {
      std::uint64_t i = 1'000'000;
      while (!done) record_number(i++);
    });
  }
  for (long i = 0; i < rounds; ++i) {
    if (const int error = sonde_start(arguments[0])) return error;
    record_numbers(1, 100);
    sonde_stop();
    record_numbers(101, 100);
  }
  done = true;
  for (std::thread& other : others) other.join();
  return 0;
}

// schedule: skip 1, then twice: wait 1, warm up 1, record 2 of 12 steps.
int schedule(char**) {
  sonde_schedule(1, 1, 1, 2, 2);
  for (std::uint64_t i = 0; i < 12; ++i) {
    sonde_step();
    record_number(i);
  }
  sonde_last_step();
  return 0;
}

int pause(char**) {
  record_number(1);
  sonde_pause();
  record_number(2);
  sonde_resume();
  record_number(3);
  return 0;
}

// closing COUNT: closes every descriptor and opens files of its own in their place.
int closing(char** arguments) {
  record_number(1);
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
  for (int fd = 3; fd < 600; ++fd) {
    if (::open("/dev/null", O_RDWR) < 0) break;
  }
  record_numbers(2, static_cast<std::uint64_t>(argument(arguments, 0)));
  return 0;
}

// random SEED COUNT: does what comes, and prints what the file should hold.
int random(char** arguments) {
  return run_random_program(static_cast<std::uint64_t>(argument(arguments, 0)),
                            static_cast<std::uint64_t>(argument(arguments, 1)));
}

}  // namespace

int main(int count, char** arguments) {
  using Mode = int (*)(char**);
  const std::map<std::string, Mode> modes = {
      {"numbers", numbers}, {"die", die},         {"forks", forks},       {"outlive", outlive},
      {"threads", threads}, {"output", output},   {"memory", memory},     {"signals", signals},
      {"dump", dump},       {"dumping", dumping}, {"sessions", sessions}, {"schedule", schedule},
      {"pause", pause},     {"closing", closing}, {"random", random},     {"unseen", unseen},
      {"flush", flush},     {"ticks", ticks},     {"executes", executes}, {"statics", statics},
  };
  const auto mode = count > 1 ? modes.find(arguments[1]) : modes.end();
  if (mode == modes.end()) return 99;
  return mode->second(arguments + 2);
}
