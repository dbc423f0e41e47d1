#include "capture/python/memory_resident.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace sonde::python {
namespace {

// Programs count on small descriptor numbers.
constexpr int kLowestDescriptor = 400;

int file = -1;

int open_file() {
  const int low = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (low < 0) return -1;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return low;
  close(low);
  return high;
}

}  // namespace

std::int64_t resident_bytes() {
  static const long page_bytes = sysconf(_SC_PAGESIZE);
  char text[128];
  ssize_t size = file >= 0 ? pread(file, text, sizeof text - 1, 0) : -1;
  if (size <= 0) {
    // The program may have closed it, or another file has its number by now.
    file = open_file();
    size = file >= 0 ? pread(file, text, sizeof text - 1, 0) : -1;
    if (size <= 0) return 0;
  }
  text[size] = 0;
  // "size resident shared …", in pages.
  char* end = nullptr;
  strtoll(text, &end, 10);
  if (end == text) return 0;
  return strtoll(end, nullptr, 10) * page_bytes;
}

void forget_resident_file() {
  if (file >= 0) close(file);
  file = -1;
}

}  // namespace sonde::python
