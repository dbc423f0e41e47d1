#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/cuda/collector.hpp"
#include "capture/size_text.hpp"
#include "sonde/sonde.h"

// Where the library is entered and left.

namespace sonde::capture::cuda {
namespace {

constexpr std::size_t kMaxPath = 4096;
pthread_once_t once = PTHREAD_ONCE_INIT;
pid_t owner;

// Beside the recording, under its name. False while nothing records.
bool name_file(char* path, std::size_t size) {
  constexpr char kEnding[] = ".sonde";
  if (!sonde_path(path, size)) return false;
  const std::size_t length = strlen(path);
  const std::size_t stem = length - (sizeof kEnding - 1);
  if (length < sizeof kEnding || strcmp(path + stem, kEnding) != 0) return false;
  if (stem + sizeof cupti::kFileEnding > size) return false;
  strcpy(path + stem, cupti::kFileEnding);
  return true;
}

void at_exit() {
  if (getpid() != owner) return;
  stop_helper();
  const cupti::State state = header().state;
  if (state == cupti::State::Collecting || state == cupti::State::Full) flush(true);
  close_store();
}

void in_child() { separate_store(); }

void begin() {
  char path[kMaxPath];
  if (!name_file(path, sizeof path)) return;
  std::uint64_t bytes = 0;
  const char* last = secure_getenv("SONDE_KEEP_LAST");
  const char* const most = secure_getenv("SONDE_MAX_SIZE");
  if (!last || !parse_size(last, bytes)) {
    last = nullptr;
    if (!most || !parse_size(most, bytes)) bytes = 0;
  }
  if (open_store(path, bytes, last != nullptr) != 0) return;
  owner = getpid();
  prepare_room();
  pthread_atfork(nullptr, nullptr, in_child);
  header().state = cupti::State::Failed;
  set_reason("CUPTI (libcupti.so) was not found");
  if (find_cupti(begin_collecting)) start_helper();
  // What is registered last runs first: before CUPTI, which may have been loaded just now, ends.
  atexit(at_exit);
}

}  // namespace
}  // namespace sonde::capture::cuda

// Called by the CUDA driver while it starts. 1: go on.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const int saved = errno;
  pthread_once(&sonde::capture::cuda::once, sonde::capture::cuda::begin);
  errno = saved;
  return 1;
}

// For agents that see another tool come and go (torch.profiler): it finds CUPTI free, and Sonde
// goes on behind it.
extern "C" __attribute__((visibility("default"))) void sonde_cuda_yield(const char* tool) {
  sonde::capture::cuda::yield_to(tool);
}
extern "C" __attribute__((visibility("default"))) void sonde_cuda_resume() {
  sonde::capture::cuda::take_over_again();
}
