#include "system/run_file_writer.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The agent's ticks are the nanoseconds of the monotonic clock.
file::ClockReading read_clocks() {
  const std::int64_t monotonic = read_clock(CLOCK_MONOTONIC);
  return {static_cast<std::uint64_t>(monotonic), monotonic, read_clock(CLOCK_REALTIME)};
}

}  // namespace

RunFileWriter::RunFileWriter(const std::string& path, std::string_view program, Process process)
    : file_(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666)) {
  if (file_ < 0) return;
  std::memcpy(header_.magic, file::kMagic, sizeof header_.magic);
  header_.version = file::kVersion;
  header_.chunk_bytes = file::kChunkBytes;
  header_.pid = process.pid != 0 ? process.pid : static_cast<std::uint32_t>(::getpid());
  header_.parent_pid = process.pid != 0 ? process.parent : static_cast<std::uint32_t>(::getppid());
  header_.first = read_clocks();
  header_.latest[0] = header_.first;
  header_.ticks_per_second = 1'000'000'000;
  header_.ticks_per_second_guess = header_.ticks_per_second;
  std::memcpy(header_.program, program.data(),
              std::min(program.size(), sizeof header_.program - 1));
  write_header();
  begin_chunk(file::ChunkType::Names);
}

RunFileWriter::~RunFileWriter() {
  if (file_ >= 0) ::close(file_);
}

RunFileWriter::DomainId RunFileWriter::add_domain(std::string_view text) {
  return static_cast<DomainId>(add_entry(text, next_domain_++, file::kDomainBit));
}

std::uint32_t RunFileWriter::add_entry(std::string_view text, std::uint32_t id, std::uint32_t bit) {
  const std::size_t size = sizeof(file::NameEntry) + (text.size() + 7) / 8 * 8;
  if (file_ < 0 || header_.dropped_records > 0 ||
      sizeof(file::ChunkHeader) + size > file::kChunkBytes) {
    return 0;
  }
  if (chunk_type_ != file::ChunkType::Names || chunk_.size() + size > file::kChunkBytes) {
    flush();
    begin_chunk(file::ChunkType::Names);
  }
  const file::NameEntry entry{static_cast<std::uint32_t>(text.size()) | bit, id};
  const std::size_t at = chunk_.size();
  chunk_.resize(at + size);
  std::memcpy(chunk_.data() + at, &entry, sizeof entry);
  std::memcpy(chunk_.data() + at + sizeof entry, text.data(), text.size());
  return id;
}

void RunFileWriter::add_counter(std::int64_t time, NameId name, DomainId domain,
                                std::int64_t value) {
  add_record({static_cast<std::uint64_t>(time), std::bit_cast<std::uint64_t>(value), 0,
              file::make_word(name, domain, file::RecordType::Counter, 0)});
}

void RunFileWriter::add_counter(std::int64_t time, NameId name, DomainId domain, double value) {
  add_record({static_cast<std::uint64_t>(time), std::bit_cast<std::uint64_t>(value), 0,
              file::make_word(name, domain, file::RecordType::Counter, 1)});
}

void RunFileWriter::add_record(const file::Record& record) {
  if (file_ < 0) return;
  if (header_.dropped_records > 0) {
    ++header_.dropped_records;
    return;
  }
  if (chunk_type_ != file::ChunkType::Records ||
      chunk_.size() + sizeof record > file::kChunkBytes) {
    flush();
    begin_chunk(file::ChunkType::Records);
  }
  const std::size_t at = chunk_.size();
  chunk_.resize(at + sizeof record);
  std::memcpy(chunk_.data() + at, &record, sizeof record);
}

void RunFileWriter::begin_chunk(file::ChunkType type) {
  file::ChunkHeader chunk{};
  chunk.magic = file::kChunkMagic;
  chunk.type = chunk_type_ = type;
  chunk.sequence = ++header_.chunks;
  chunk.thread = header_.pid;
  chunk_at_ = file::chunk_offset(header_.chunks - 1);
  written_ = 0;
  chunk_.resize(sizeof chunk);
  std::memcpy(chunk_.data(), &chunk, sizeof chunk);
}

void RunFileWriter::flush() {
  if (file_ < 0 || written_ == chunk_.size()) return;
  if (write_at(chunk_at_ + written_, chunk_.data() + written_, chunk_.size() - written_)) {
    written_ = chunk_.size();
    return;
  }
  header_.drop_reason = static_cast<std::uint32_t>(errno);
  header_.dropped_records += std::max<std::size_t>(1, (chunk_.size() - written_) / 32);
  write_header();
}

void RunFileWriter::touch() {
  if (file_ < 0) return;
  flush();
  header_.latest_slot = 1;
  header_.latest[1] = read_clocks();
  write_header();
}

void RunFileWriter::close() {
  if (file_ < 0) return;
  flush();
  header_.latest_slot = 1;
  header_.latest[1] = read_clocks();
  header_.clean_end = 1;
  // A whole last chunk, as other recorders leave it; a hole takes no space.
  if (::ftruncate(file_, static_cast<off_t>(chunk_at_ + file::kChunkBytes)) != 0) {
    // The file is then shorter, and as good.
  }
  write_header();
  ::close(file_);
  file_ = -1;
}

bool RunFileWriter::write_at(std::uint64_t offset, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::pwrite(file_, at, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      return false;
    }
    at += written;
    offset += static_cast<std::uint64_t>(written);
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void RunFileWriter::write_header() { write_at(0, &header_, sizeof header_); }

}  // namespace sonde
