// A "CUDA program" for tests: it uses the fake driver and the fake CUPTI beside it. Arguments are
// the things it does, in order:
//   work N       N kernels, copies and sets with their calls     graph       a graph of two kernels
//   memory       an allocation and its release                   sync        waits for a stream
//   overhead     CUPTI's own time                                drop N      N records that CUPTI
//   lost unknown      a record of an unknown kind                     take        another tool
//   takes over release      the other tool goes                             sleep MS    waits kill
//   ends itself by SIGKILL                          leave       ends itself by _exit fork         a
//   child that goes on working and exits          half        a kernel that never ends

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "fake_cupti.hpp"

namespace {

void* cupti;

template <typename Function>
Function* find(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(cupti, name));
}
#define FAKE(name) find(static_cast<decltype(&(name))>(nullptr), #name)

void work(int count) {
  for (int i = 0; i < count; ++i) {
    const std::uint32_t launch = FAKE(fake_correlation)();
    const std::uint64_t start = FAKE(fake_now)();
    const std::uint64_t middle = FAKE(fake_now)();
    FAKE(fake_call)(2, 1, start, middle, launch);
    FAKE(fake_call)(2, 4, middle, middle, FAKE(fake_correlation)());
    const std::string name = "_Z9my_kernelILi" + std::to_string(i % 3) + "EEvPf";
    static char names[3][64];
    ::strcpy(names[i % 3], name.c_str());
    FAKE(fake_kernel)(names[i % 3], middle, FAKE(fake_now)() + 100000, 7, launch, 0, 0);
    const std::uint32_t copy = FAKE(fake_correlation)();
    const std::uint64_t copying = FAKE(fake_now)();
    FAKE(fake_call)(2, 2, copying, FAKE(fake_now)(), copy);
    const std::uint64_t begin = FAKE(fake_now)() + 200000;
    FAKE(fake_copy)(1, 1, 3, 4096, begin, begin + 50000, 13, copy);
    const std::uint32_t set = FAKE(fake_correlation)();
    const std::uint64_t setting = FAKE(fake_now)();
    FAKE(fake_call)(2, 3, setting, FAKE(fake_now)(), set);
    FAKE(fake_set)(1024, begin + 60000, begin + 70000, 13, set);
  }
}

void graph() {
  const std::uint32_t launch = FAKE(fake_correlation)();
  const std::uint64_t start = FAKE(fake_now)();
  FAKE(fake_call)(2, 6, start, start + 1000, launch);
  FAKE(fake_kernel)("graph_first", start + 2000, start + 3000, 7, launch, 5, 0x500000001);
  FAKE(fake_kernel)("graph_second", start + 4000, start + 6000, 7, launch, 5, 0x500000002);
}

void fork_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    work(3);
    ::exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** words) {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
  const auto init =
      driver ? reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit")) : nullptr;
  if (!init) return ::fprintf(stderr, "no driver: %s\n", ::dlerror()), 2;
  init(0);
  // The library that Sonde has loaded, or one that nobody listens to.
  cupti = ::dlopen("libcupti.so.13", RTLD_LAZY);
  if (!cupti) return ::fprintf(stderr, "no CUPTI: %s\n", ::dlerror()), 2;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto number = [&] { return i + 1 < count ? ::atoi(words[++i]) : 1; };
    const std::uint64_t now = FAKE(fake_now)();
    if (word == "work") work(number());
    if (word == "graph") graph();
    if (word == "memory") {
      FAKE(fake_memory)(1, 0x7000, 4096, now, FAKE(fake_correlation)());
      FAKE(fake_memory)(2, 0x7000, 4096, now + 1000, FAKE(fake_correlation)());
    }
    if (word == "sync") {
      const std::uint32_t call = FAKE(fake_correlation)();
      FAKE(fake_call)(2, 5, now, now + 5000, call);
      FAKE(fake_sync)(3, now, now + 5000, 7, call);
    }
    if (word == "overhead") FAKE(fake_overhead)(65536, now, now + 7000);
    if (word == "drop") FAKE(fake_drop)(static_cast<std::uint64_t>(number()));
    if (word == "unknown") FAKE(fake_unknown)(77);
    if (word == "take") FAKE(fake_take_over)("Some Profiler");
    if (word == "release") FAKE(fake_release)();
    if (word == "sleep") ::usleep(static_cast<useconds_t>(number()) * 1000);
    if (word == "half")
      FAKE(fake_kernel)("never_ending", now, 0, 7, FAKE(fake_correlation)(), 0, 0);
    if (word == "fork") fork_child();
    if (word == "kill") ::kill(::getpid(), SIGKILL);
    if (word == "leave") ::_exit(0);
  }
  ::printf("done\n");
  return 0;
}
