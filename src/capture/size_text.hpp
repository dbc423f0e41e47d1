#pragma once

#include <errno.h>
#include <stdlib.h>

#include <cstdint>

namespace sonde::capture {

// "64M", "1G" or a number of bytes. False for anything else, and for 0.
inline bool parse_size(const char* text, std::uint64_t& bytes) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (end == text || errno != 0) return false;
  int shift = 0;
  switch (*end | 0x20) {
    case 'k':
      shift = 10;
      break;
    case 'm':
      shift = 20;
      break;
    case 'g':
      shift = 30;
      break;
    case 't':
      shift = 40;
      break;
  }
  if (number > ~std::uint64_t{0} >> shift) return false;
  bytes = std::uint64_t{number} << shift;
  return bytes != 0;
}

}  // namespace sonde::capture
