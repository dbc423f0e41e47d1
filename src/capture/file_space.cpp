#include "capture/file_space.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace sonde::capture {
namespace {

// Never written, and so one page of zeros that the kernel maps again and again.
alignas(4096) char zeros[256 * 1024];

}  // namespace

int write_zeros(int fd, off_t offset, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t wanted = bytes < sizeof zeros ? bytes : sizeof zeros;
    const ssize_t written = pwrite(fd, zeros, wanted, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    offset += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

bool beyond_file_limit(std::uint64_t end) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

int reserve_space(int fd, off_t offset, std::size_t bytes) {
  if (beyond_file_limit(static_cast<std::uint64_t>(offset) + bytes)) return EFBIG;
  for (int tries = 0; tries < 1000; ++tries) {
    if (fallocate(fd, 0, offset, static_cast<off_t>(bytes)) == 0) return 0;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return write_zeros(fd, offset, bytes);
    if (errno != EINTR) return errno;
  }
  return EINTR;
}

char* map_space(int fd, off_t offset, std::size_t bytes) {
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  return address == MAP_FAILED ? nullptr : static_cast<char*>(address);
}

int make_present(char* address, std::size_t bytes) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (madvise(address, bytes, MADV_POPULATE_WRITE) == 0) return 0;
    if (errno == EINVAL) break;
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
  for (std::size_t at = 0; at < bytes; at += 4096) {
    __atomic_fetch_or(address + at, 0, __ATOMIC_RELAXED);
  }
  return 0;
}

}  // namespace sonde::capture
