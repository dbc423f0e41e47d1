#include "capture/memory/output.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/size_text.hpp"
#include "trace/file_format.hpp"

namespace sonde::memory {
namespace {

using PathFunction = int (*)(char* path, std::size_t size);
PathFunction recorder_path;
char run_folder[PATH_MAX];  // empty: none was named
std::uint64_t limit;

std::int64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The clock of such a file is the system's own.
file::ClockReading read_clocks() {
  file::ClockReading reading;
  reading.monotonic = nanoseconds(CLOCK_MONOTONIC);
  reading.wall = nanoseconds(CLOCK_REALTIME);
  reading.ticks = static_cast<std::uint64_t>(reading.monotonic);
  return reading;
}

bool write_whole(int file, const file::FileHeader& header) {
  return pwrite(file, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
}

}  // namespace

void read_environment() {
  const char* const folder = secure_getenv("SONDE_RUN_DIR");
  if (folder && strlen(folder) < sizeof run_folder) strcpy(run_folder, folder);
  const char* const size = secure_getenv("SONDE_MAX_SIZE");
  if (!size || !capture::parse_size(size, limit)) limit = 0;
}

std::uint64_t size_limit() { return limit; }

void find_recorder() {
  recorder_path = reinterpret_cast<PathFunction>(dlsym(RTLD_DEFAULT, "sonde_path"));
}

bool recording_of_program(char* path, std::size_t size) {
  if (recorder_path && recorder_path(path, size)) return true;
  if (!run_folder[0]) return false;
  file::FileHeader header{};
  header.version = file::kVersion;
  header.chunk_bytes = file::kChunkBytes;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.parent_pid = static_cast<std::uint32_t>(getppid());
  header.ticks_per_second = header.ticks_per_second_guess = 1'000'000'000;
  header.first = header.latest[0] = read_clocks();
  const char* name = program_invocation_short_name;
  if (!name || !*name) name = "program";
  for (std::size_t i = 0; name[i] && i + 1 < sizeof header.program; ++i) {
    header.program[i] = name[i] == '/' ? '_' : name[i];
  }
  const int length =
      snprintf(path, size, "%s/%.100s-%d-%lld.sonde", run_folder, header.program,
               static_cast<int>(getpid()), static_cast<long long>(header.first.wall));
  if (length < 0 || static_cast<std::size_t>(length) >= size) return false;
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return false;
  memcpy(header.magic, file::kMagic, sizeof header.magic);
  const bool written =
      write_whole(file, header) && ftruncate(file, static_cast<off_t>(file::kChunkBytes)) == 0;
  close(file);
  if (!written) unlink(path);
  return written;
}

void end_recording(const char* path) {
  if (recorder_path) return;
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  file::FileHeader header{};
  // Never a file of somebody else.
  if (pread(file, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
      header.chunks == 0 && header.pid == static_cast<std::uint32_t>(getpid())) {
    header.latest[1] = read_clocks();
    header.latest_slot = 1;
    header.clean_end = 1;
    (void)!write_whole(file, header);
  }
  close(file);
}

}  // namespace sonde::memory
