#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_format.hpp"

namespace sonde {

// Writes counters into a .sonde file from one thread, with plain writes: what flush() has written
// survives this process. A write that fails ends the recording and is told in the file as a loss.
class RunFileWriter {
 public:
  using NameId = std::uint32_t;
  using DomainId = std::uint16_t;

  // The process that the file is about.
  struct Process {
    std::uint32_t pid = 0;
    std::uint32_t parent = 0;
  };

  // Check ok() afterwards. Without a process: this one.
  RunFileWriter(const std::string& path, std::string_view program)
      : RunFileWriter(path, program, Process{}) {}
  RunFileWriter(const std::string& path, std::string_view program, Process process);
  ~RunFileWriter();
  RunFileWriter(const RunFileWriter&) = delete;
  RunFileWriter& operator=(const RunFileWriter&) = delete;

  bool ok() const { return file_ >= 0; }

  // At any time; names that come late take a chunk of their own, which is worth saving: give those
  // that are new together, and few. An empty name is 0, which is none.
  NameId add_name(std::string_view text) { return add_entry(text, next_name_++, 0); }
  DomainId add_domain(std::string_view text);

  // `time` is nanoseconds of CLOCK_MONOTONIC.
  void add_counter(std::int64_t time, NameId name, DomainId domain, std::int64_t value);
  void add_counter(std::int64_t time, NameId name, DomainId domain, double value);
  // Writes the records so far.
  void flush();
  // The recording lasts until now at least: for what lies beside this file.
  void touch();
  // The orderly end.
  void close();

 private:
  std::uint32_t add_entry(std::string_view text, std::uint32_t id, std::uint32_t bit);
  void add_record(const file::Record& record);
  void begin_chunk(file::ChunkType type);
  bool write_at(std::uint64_t offset, const void* bytes, std::size_t size);
  void write_header();

  int file_ = -1;
  file::FileHeader header_{};
  std::vector<char> chunk_;     // the chunk at work, from its header on
  std::uint64_t chunk_at_ = 0;  // in the file; 0: no chunk yet
  std::size_t written_ = 0;     // bytes of chunk_ that are in the file
  std::uint32_t next_name_ = 1;
  std::uint32_t next_domain_ = 1;
  file::ChunkType chunk_type_ = file::ChunkType::Names;
};

}  // namespace sonde
