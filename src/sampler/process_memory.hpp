#pragma once

#include <sys/types.h>

#include <string>

#include "sampler/memory.hpp"

namespace sonde {

// The memory of a living process.
class LiveMemory : public Memory {
 public:
  explicit LiveMemory(pid_t pid) : pid_(pid) {}

  // errno tells why not: EPERM, ESRCH (it ended), EFAULT.
  bool read(Address address, void* out, std::size_t size) const override;
  void read_all(std::span<MemoryPiece> pieces) const override;

 private:
  pid_t pid_;
};

// A file, read piece by piece: it may be shortened while it is read.
class FileMemory : public Memory {
 public:
  explicit FileMemory(const std::string& path);
  ~FileMemory() override;
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;

  bool ok() const { return file_ >= 0; }
  bool read(Address address, void* out, std::size_t size) const override;

 private:
  int file_;
};

}  // namespace sonde
