#include "sampler/process_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace sonde {
namespace {

constexpr std::size_t kPiecesPerCall = 64;

}  // namespace

bool LiveMemory::read(Address address, void* out, std::size_t size) const {
  iovec local{out, size};
  iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (got == static_cast<ssize_t>(size)) return true;
  if (got >= 0) errno = EFAULT;
  return false;
}

void LiveMemory::read_all(std::span<MemoryPiece> pieces) const {
  while (!pieces.empty()) {
    const std::size_t count = std::min(pieces.size(), kPiecesPerCall);
    std::array<iovec, kPiecesPerCall> local;
    std::array<iovec, kPiecesPerCall> remote;
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      local[i] = {pieces[i].out, pieces[i].size};
      remote[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].size};
      total += pieces[i].size;
    }
    const ssize_t got = ::process_vm_readv(pid_, local.data(), count, remote.data(), count, 0);
    const bool all = got == static_cast<ssize_t>(total);
    // The first bad address ends the call: then each for itself.
    for (std::size_t i = 0; i < count; ++i) {
      pieces[i].read = all || read(pieces[i].address, pieces[i].out, pieces[i].size);
    }
    pieces = pieces.subspan(count);
  }
}

FileMemory::FileMemory(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

FileMemory::~FileMemory() {
  if (file_ >= 0) ::close(file_);
}

bool FileMemory::read(Address address, void* out, std::size_t size) const {
  char* at = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = ::pread(file_, at, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    address += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace sonde
