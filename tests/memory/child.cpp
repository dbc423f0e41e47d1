// A program with known allocations, for check_programs.py.

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = 1024 * 1024;

void touch(void* block) { *static_cast<volatile char*>(block) = 1; }

}  // namespace

// Found again by their names.
extern "C" {

__attribute__((noinline)) void* known_leak(std::size_t bytes) {
  void* const block = malloc(bytes);
  touch(block);
  return block;
}

__attribute__((noinline)) void known_peak() {
  void* const block = calloc(20, kMiB);
  touch(block);
  free(block);
}

__attribute__((noinline)) void known_churn(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    void* const block = malloc(1000);
    touch(block);
    free(block);
  }
}

__attribute__((noinline)) void known_realloc() {
  char* block = nullptr;
  for (std::size_t size = 1; size <= 64; size *= 2) {
    block = static_cast<char*>(realloc(block, size * 64 * 1024));
    touch(block);
  }
  // A failure leaves the block.
  volatile std::size_t much = SIZE_MAX / 2;
  if (realloc(block, much)) abort();
  block[64 * 64 * 1024 - 1] = 1;
  free(block);
}

__attribute__((noinline)) void known_aligned() {
  void* blocks[5] = {};
  if (posix_memalign(&blocks[0], 4096, kMiB) != 0) abort();
  blocks[1] = aligned_alloc(64, kMiB);
  blocks[2] = reallocarray(nullptr, 1024, 1024);
  blocks[3] = valloc(kMiB);
  blocks[4] = new char[kMiB];
  for (int i = 0; i < 4; ++i) {
    touch(blocks[i]);
    free(blocks[i]);
  }
  delete[] static_cast<char*>(blocks[4]);
}
}

namespace {

// Frees after the destructors of thread-local objects ran.
struct Late {
  ~Late() { free(block); }
  void* block = nullptr;
};
thread_local Late late;

void thread_work() {
  late.block = malloc(100'000);
  touch(late.block);
  known_churn(20'000);
}

// By vfork(), which leaves the child in this memory.
__attribute__((noinline)) void start_and_wait() {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
}

// A forked child that allocates while its environment is being built anew, as bash does.
int allocate_without_environment() {
  const pid_t child = fork();
  if (child == 0) {
    // The compiler thinks that malloc() does not look at it.
    char** volatile& own_environment = const_cast<char** volatile&>(environ);
    char** const before = own_environment;
    own_environment = reinterpret_cast<char**>(16);  // nothing is there
    void* const own = known_leak(3 * kMiB);
    own_environment = before;
    _exit(own == nullptr);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "environment") == 0) return allocate_without_environment();
  const bool many = count > 1 && strcmp(arguments[1], "threads") == 0;
  void* const leak = known_leak(10 * kMiB);
  known_peak();
  known_churn(20'000);
  known_realloc();
  known_aligned();
  std::vector<std::thread> threads;
  for (int i = 0; i < (many ? 8 : 1); ++i) threads.emplace_back(thread_work);
  // Forks while the others allocate.
  for (int i = 0; i < (many ? 20 : 2); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      void* const own = known_leak(3 * kMiB);
      known_churn(1000);
      _exit(own == nullptr);
    }
    start_and_wait();
    int status = 1;
    waitpid(child, &status, 0);
    if (status != 0) return 3;
  }
  for (std::thread& thread : threads) thread.join();
  return leak == nullptr;
}
