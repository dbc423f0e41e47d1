#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/file_space.hpp"
#include "capture/recorder.hpp"

namespace sonde::capture {
namespace {

constexpr std::uint32_t kFirstRegion = 16;
constexpr std::uint32_t kUsualRegion = 256;
constexpr std::uint32_t kLargeRegion = 1024;
// Programs count on small descriptor numbers, and some close all of them.
constexpr int kLowestDescriptor = 400;

off_t offset_of(std::uint32_t chunk) { return static_cast<off_t>(file::chunk_offset(chunk)); }

int make_folders(char* path) {
  for (char* at = path + 1;; ++at) {
    if (*at != '/' && *at != 0) continue;
    const char cut = *at;
    *at = 0;
    const int made = mkdir(path, 0777);
    const int error = errno;
    *at = cut;
    if (cut == 0) return made == 0 || error == EEXIST ? 0 : error;
  }
}

int add_region(Session& session, std::uint32_t count) {
  const std::uint32_t regions = session.region_count.load(std::memory_order_relaxed);
  if (regions == kMaxRegions) return EFBIG;
  if (!owns_file(session)) return EBADF;
  const off_t offset = offset_of(session.reserved);
  const std::size_t bytes = count * file::kChunkBytes;
  if (const int error = reserve_space(session.fd, offset, bytes)) return error;
  char* const address = map_space(session.fd, offset, bytes);
  if (!address) return errno;
  madvise(address, bytes, MADV_DONTFORK);
  session.regions[regions] = {address, session.reserved, count, count};
  session.region_count.store(regions + 1, std::memory_order_release);
  session.reserved += count;
  return 0;
}

int open_file(Session& session, const char* folder) {
  if (folder[0] == '/') {
    if (strlen(folder) + 1 > kMaxPath) return ENAMETOOLONG;
    strcpy(session.path, folder);
  } else {
    // The program may go to another folder later.
    if (!getcwd(session.path, kMaxPath)) return errno;
    const std::size_t size = strlen(session.path);
    if (size + 1 + strlen(folder) + 1 > kMaxPath) return ENAMETOOLONG;
    session.path[size] = '/';
    strcpy(session.path + size + 1, folder);
  }
  if (const int error = make_folders(session.path)) return error;
  const std::size_t size = strlen(session.path);
  for (int tries = 0; tries < 100; ++tries) {
    const int written = snprintf(session.path + size, kMaxPath - size, "/%.100s-%d-%lld.sonde",
                                 session.header->program, static_cast<int>(getpid()),
                                 static_cast<long long>(session.header->first.wall + tries));
    if (written < 0 || size + static_cast<std::size_t>(written) >= kMaxPath) return ENAMETOOLONG;
    const int fd = open(session.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return errno;
    session.fd = fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor);
    if (session.fd < 0) {
      session.fd = fd;
    } else {
      close(fd);
    }
    struct stat status {};
    if (fstat(session.fd, &status) != 0) return errno;
    session.device = status.st_dev;
    session.inode = status.st_ino;
    return 0;
  }
  return EEXIST;
}

}  // namespace

// Programs that close every descriptor exist: never touch a file that took over the number.
bool owns_file(const Session& session) {
  struct stat status {};
  return session.fd >= 0 && fstat(session.fd, &status) == 0 && status.st_dev == session.device &&
         status.st_ino == session.inode;
}

// On entry session.header is a draft; on success it is the mapped one.
int open_storage(Session& session, const char* folder) {
  session.fd = -1;
  if (const int error = open_file(session, folder)) {
    if (session.fd >= 0) close(session.fd);
    return error;
  }
  int error = reserve_space(session.fd, 0, file::kHeaderBytes);
  char* const page = error ? nullptr : map_space(session.fd, 0, file::kHeaderBytes);
  if (!error && !page) error = errno;
  if (error) {
    unlink(session.path);
    close(session.fd);
    return error;
  }
  auto* const header = reinterpret_cast<file::FileHeader*>(page);
  memcpy(reinterpret_cast<char*>(header) + sizeof header->magic,
         reinterpret_cast<const char*>(session.header) + sizeof header->magic,
         sizeof *header - sizeof header->magic);
  std::uint64_t magic;
  memcpy(&magic, file::kMagic, sizeof magic);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(header->magic), magic, __ATOMIC_RELEASE);
  session.header = header;
  return 0;
}

void close_storage(Session& session) {
  const std::uint32_t regions = session.region_count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < regions; ++i) {
    munmap(session.regions[i].address, session.regions[i].mapped * file::kChunkBytes);
  }
  munmap(session.header, file::kHeaderBytes);
  close_file(session);
}

void close_file(Session& session) {
  if (session.preparing > 0) return;
  if (owns_file(session)) close(session.fd);
  session.fd = -1;
}

int grow_storage(Session& session) {
  std::uint32_t count = session.reserved / 4;
  const std::uint32_t most = session.reserved > 16384 ? kLargeRegion : kUsualRegion;
  if (count < kFirstRegion) count = kFirstRegion;
  if (count > most) count = most;
  if (session.max_chunks && count > session.max_chunks - session.reserved) {
    count = session.max_chunks - session.reserved;
  }
  for (;;) {
    const int error = add_region(session, count);
    if (error == 0 || count <= 1) return error;
    // The last bit of space is still worth having.
    count = count > kFirstRegion ? kFirstRegion : 1;
  }
}

void trim_storage(Session& session) {
  if (!owns_file(session)) return;
  const std::uint32_t regions = session.region_count.load(std::memory_order_relaxed);
  if (regions > 0 && session.chunks < session.reserved) {
    // A thread that outlives main goes on behind this; what was mapped here is not used again.
    Region& last = session.regions[regions - 1];
    store(last.count, session.chunks - last.first);
    session.reserved = session.chunks;
  }
  (void)!ftruncate(session.fd, offset_of(session.chunks));
}

char* chunk_address(const Session& session, std::uint32_t chunk) {
  std::uint32_t low = 0;
  std::uint32_t high = session.region_count.load(std::memory_order_acquire);
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    const Region& region = session.regions[middle];
    if (chunk < region.first) {
      high = middle;
    } else if (chunk - region.first >= __atomic_load_n(&region.count, __ATOMIC_RELAXED)) {
      low = middle + 1;
    } else {
      return region.address + (chunk - region.first) * file::kChunkBytes;
    }
  }
  return nullptr;
}

int prepare_chunks(const Session& session, std::uint32_t first, std::uint32_t count, bool fresh) {
  const std::size_t bytes = count * file::kChunkBytes;
  // Zeros through the file cost the kernel half of what a page fault for each page does: it takes
  // few large pages, and fills and marks each of them once. A failure is left to what follows.
  if (fresh && owns_file(session) && !beyond_file_limit(file::chunk_offset(first + count))) {
    write_zeros(session.fd, offset_of(first), bytes);
  }
  return make_present(chunk_address(session, first), bytes);
}

}  // namespace sonde::capture
