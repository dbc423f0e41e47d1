// A program that records. The tests run it, kill it and look at what is left.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sonde/sonde.hpp"

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

// random SEED COUNT: does what comes, and prints what the file should hold, for each thread.
struct Random {
  std::uint64_t state;
  std::uint64_t operator()(std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  }
};

std::string arguments_of(Random& random, sonde_arguments* arguments) {
  sonde_no_arguments(arguments);
  std::string text;
  for (std::uint64_t i = random(4); i > 0; --i) {
    const std::string key = "key" + std::to_string(random(20));
    switch (random(3)) {
      case 0: {
        const auto value = static_cast<std::int64_t>(random(1000)) - 500;
        sonde_add_i64(arguments, key.c_str(), value);
        text += " " + key + "=" + std::to_string(value);
        break;
      }
      case 1: {
        const double value = static_cast<double>(random(1000)) / 8;
        sonde_add_f64(arguments, key.c_str(), value);
        text += " " + key + "=" + std::to_string(value);
        break;
      }
      default: {
        const std::string value = "text" + std::to_string(random(1000));
        sonde_add_text(arguments, key.c_str(), value.c_str());
        text += " " + key + "=" + value;
      }
    }
  }
  return text;
}

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, int number) : random_{seed}, number_(number) {
    for (int i = 0; i < 8; ++i) {
      names_.push_back("name" + std::to_string(i));
      domains_.push_back("domain" + std::to_string(i));
    }
    for (int i = 0; i < 8; ++i) {
      name_[i] = SONDE_NAME_INIT(names_[i].c_str());
      domain_[i] = SONDE_DOMAIN_INIT(domains_[i].c_str());
      counter_[i] = {{names_[i].c_str(), 0}, &domain_[i], 0};
    }
  }

  void run(std::uint64_t count) {
    say("thread " + std::to_string(number_));
    sonde_name_thread(("thread " + std::to_string(number_)).c_str());
    while (count > 0) step(count, 0);
  }

  const std::string& said() const { return said_; }

 private:
  void say(const std::string& text) {
    said_ += text;
    said_ += '\n';
  }

  void step(std::uint64_t& count, int depth) {
    if (count == 0) return;
    --count;
    const std::uint64_t n = random_(8);
    const std::uint64_t d = random_(8);
    const std::string both = names_[n] + " " + domains_[d];
    const std::uint64_t id = random_(1u << 30);
    sonde_arguments arguments;
    switch (random_(11)) {
      case 0:
      case 1:
      case 2: {
        sonde_scope scope;
        sonde_begin(&scope, &name_[n], &domain_[d], SONDE_KIND_OPERATOR);
        sonde_set_id(&scope, id);
        for (std::uint64_t i = random_(4); i > 0 && depth < 8; --i) step(count, depth + 1);
        sonde_end(&scope);
        say("slice " + both + " 2 " + std::to_string(id));
        break;
      }
      case 3: {
        sonde_scope scope;
        const std::string name = "made " + std::to_string(random_(100));
        sonde_begin_id(&scope, sonde_intern(name.c_str()), &domain_[d], SONDE_KIND_API);
        const std::string text = arguments_of(random_, &arguments);
        sonde_end_with(&scope, &arguments);
        say("slice " + name + " " + domains_[d] + " 9 0" + text);
        break;
      }
      case 4: {
        sonde_task task;
        const std::uint64_t kind = random_(3);
        if (kind == 0) sonde_task_start(&task, &name_[n], &domain_[d]);
        if (kind == 1) sonde_frame_start(&task, &name_[n], &domain_[d]);
        if (kind == 2) sonde_event_start(&task, &name_[n]);
        for (std::uint64_t i = random_(3); i > 0 && depth < 8; --i) step(count, depth + 1);
        const std::string text = arguments_of(random_, &arguments);
        sonde_task_stop_with(&task, &arguments);
        say("async " + names_[n] + " " + (kind == 2 ? "" : domains_[d]) + " " +
            std::to_string(kind) + text);
        break;
      }
      case 5:
        sonde_async_begin(&name_[n], &domain_[d], id);
        sonde_async_end(&name_[n], &domain_[d], id);
        say("begin " + both + " " + std::to_string(id));
        say("end " + both + " " + std::to_string(id));
        break;
      case 6: {
        const auto delta = static_cast<std::int64_t>(random_(100)) - 50;
        if (random_(2)) {
          sonde_counter_set(&counter_[n], delta);
        } else {
          sonde_counter_add(&counter_[n], delta);
        }
        say("counter " + names_[n] + " " + domains_[n] + " " + std::to_string(counter_[n].value));
        break;
      }
      case 7: {
        const char scope = "tpg"[random_(3)];
        const std::string text = arguments_of(random_, &arguments);
        sonde_marker_with(&name_[n], &domain_[d], scope, &arguments);
        say("marker " + both + " " + scope + text);
        break;
      }
      case 8: {
        const auto* const address = reinterpret_cast<const void*>(id);
        sonde_allocated(SONDE_DEVICE_GPU, 3, &domain_[d], address, id, &name_[n]);
        sonde_freed(SONDE_DEVICE_CPU_PINNED, 0, &domain_[d], address, id, nullptr);
        say("memory " + both + " 19 " + std::to_string(id) + " " + std::to_string(id));
        say("memory  " + domains_[d] + " 32 " + std::to_string(id) + " -" + std::to_string(id));
        break;
      }
      case 9:
        sonde_device_work(&name_[n], &domain_[d], SONDE_KIND_KERNEL, 5, id, 1000, 1000 + id, 42);
        say("device " + both + " 10 5 " + std::to_string(id) + " " + std::to_string(id));
        break;
      default:
        sonde_link(id, id + 1);
        say("link " + std::to_string(id));
    }
  }

  Random random_;
  int number_;
  std::vector<std::string> names_;
  std::vector<std::string> domains_;
  sonde_name name_[8];
  sonde_domain domain_[8];
  sonde_counter counter_[8];
  std::string said_;
};

int random(char** arguments) {
  const auto seed = static_cast<std::uint64_t>(argument(arguments, 0));
  const auto count = static_cast<std::uint64_t>(argument(arguments, 1));
  std::list<RandomProgram> programs;
  for (int i = 0; i < 3; ++i) programs.emplace_back(seed * 3 + static_cast<std::uint64_t>(i), i);
  std::vector<std::thread> workers;
  for (RandomProgram& program : programs) workers.emplace_back([&] { program.run(count); });
  for (std::thread& worker : workers) worker.join();
  for (const RandomProgram& program : programs) std::fputs(program.said().c_str(), stdout);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  using Mode = int (*)(char**);
  const std::map<std::string, Mode> modes = {
      {"numbers", numbers}, {"die", die},         {"forks", forks},       {"outlive", outlive},
      {"threads", threads}, {"output", output},   {"memory", memory},     {"signals", signals},
      {"dump", dump},       {"dumping", dumping}, {"sessions", sessions}, {"schedule", schedule},
      {"pause", pause},     {"closing", closing}, {"random", random},
  };
  const auto mode = count > 1 ? modes.find(arguments[1]) : modes.end();
  if (mode == modes.end()) return 99;
  return mode->second(arguments + 2);
}
