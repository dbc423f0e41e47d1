#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

// Pieces of a file as memory, for files that are written through a mapping.

namespace sonde::capture {

// A write past this limit would be a signal, not an error.
bool beyond_file_limit(std::uint64_t end);

// Real space on the disk: a page that is written later cannot fail. 0, or an errno.
int reserve_space(int fd, off_t offset, std::size_t bytes);
int write_zeros(int fd, off_t offset, std::size_t bytes);

// nullptr, and errno, where it fails.
char* map_space(int fd, off_t offset, std::size_t bytes);

// Makes all pages present and writable. 0, or an errno.
int make_present(char* address, std::size_t bytes);

}  // namespace sonde::capture
