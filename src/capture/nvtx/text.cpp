#include <pthread.h>
#include <sys/mman.h>

#include "capture/nvtx/ranges.hpp"

namespace sonde::capture::nvtx {
namespace {

constexpr std::size_t kBlock = 64 * 1024;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
char* next;
char* end_of_block;

}  // namespace

void* keep(std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  pthread_mutex_lock(&mutex);
  if (static_cast<std::size_t>(end_of_block - next) < bytes) {
    const std::size_t size = bytes > kBlock ? bytes : kBlock;
    void* const block =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    next = block == MAP_FAILED ? nullptr : static_cast<char*>(block);
    end_of_block = next ? next + size : nullptr;
  }
  char* const out = next;
  if (out) next += bytes;
  pthread_mutex_unlock(&mutex);
  return out;
}

void narrow(const wchar_t* wide, char* out, std::size_t size) {
  std::size_t at = 0;
  for (; wide && *wide && at + 5 < size; ++wide) {
    auto c = static_cast<std::uint32_t>(*wide);
    // Written by a program that takes wide characters for UTF-16.
    if (c >= 0xD800 && c < 0xDC00) {
      const auto low = static_cast<std::uint32_t>(wide[1]);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        ++wide;
      }
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
    const auto put = [&](std::uint32_t byte) { out[at++] = static_cast<char>(byte); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 | c >> 6);
      put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12);
      put(0x80 | (c >> 6 & 0x3F));
      put(0x80 | (c & 0x3F));
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
      put(0x80 | (c >> 6 & 0x3F));
      put(0x80 | (c & 0x3F));
    }
  }
  out[at] = 0;
}

}  // namespace sonde::capture::nvtx
