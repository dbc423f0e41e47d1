// host PLUGIN ROUNDS: a library that records comes and goes, and a thread that called it ends
// later.

#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int count, char** arguments) {
  if (count != 3) return 99;
  const long rounds = std::atol(arguments[2]);
  for (long i = 0; i < rounds; ++i) {
    void* const handle = ::dlopen(arguments[1], RTLD_NOW);
    if (!handle) {
      std::fprintf(stderr, "%s\n", ::dlerror());
      return 1;
    }
    auto* const record = reinterpret_cast<void (*)(int)>(::dlsym(handle, "plugin_record"));
    std::atomic<bool> recorded{false};
    std::atomic<bool> closed{false};
    std::thread thread([&] {
      record(1000);
      recorded = true;
      while (!closed) ::sched_yield();
    });
    record(10);
    while (!recorded) ::sched_yield();
    ::dlclose(handle);
    closed = true;
    thread.join();
  }
  return 0;
}
