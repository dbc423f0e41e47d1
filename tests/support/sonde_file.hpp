#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_format.hpp"
#include "trace/kind.hpp"

namespace sonde::test {

// A .sonde file made by hand, in memory: records go into the chunk that was begun last. One tick is
// 10 ns, and the recording begins at tick 1000.
class SondeFile {
 public:
  static constexpr std::uint64_t kFirstTick = 1000;
  static constexpr std::uint32_t kSmallChunk = 4096;

  explicit SondeFile(std::uint32_t chunk_bytes = kSmallChunk) {
    std::memcpy(header.magic, file::kMagic, sizeof header.magic);
    header.version = file::kVersion;
    header.chunk_bytes = chunk_bytes;
    header.pid = 100;
    header.parent_pid = 99;
    header.first = {kFirstTick, 5'000'000'000, 1'700'000'000'000'000'000};
    header.latest[0] = header.first;
    header.ticks_per_second = 100'000'000;
    header.clean_end = 1;
    std::strcpy(header.program, "demo");
  }

  file::FileHeader header{};

  SondeFile& chunk(std::uint32_t thread, std::uint64_t sequence = 0,
                   file::ChunkType type = file::ChunkType::Records) {
    file::ChunkHeader head{};
    head.magic = file::kChunkMagic;
    head.type = type;
    head.sequence = sequence ? sequence : chunks_.size() + 1;
    head.thread = thread;
    chunks_.emplace_back(reinterpret_cast<const char*>(&head), sizeof head);
    return *this;
  }

  SondeFile& record(file::RecordType type, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                    std::string_view name = {}, std::string_view domain = {},
                    std::uint8_t extra = 0) {
    const auto name_id = id_of(names_, name);
    const auto domain_id = static_cast<std::uint16_t>(id_of(domains_, domain));
    return raw({a, b, c, file::make_word(name_id, domain_id, type, extra)});
  }

  SondeFile& raw(const file::Record& record) {
    chunks_.back().append(reinterpret_cast<const char*>(&record), sizeof record);
    return *this;
  }

  // `start` and `end` in ticks since the begin of the recording.
  SondeFile& slice(std::string_view name, std::uint64_t start, std::uint64_t end,
                   SliceKind kind = SliceKind::Operator, std::uint64_t id = 0,
                   std::string_view domain = {}) {
    return record(file::RecordType::Slice, kFirstTick + start, kFirstTick + end, id, name, domain,
                  static_cast<std::uint8_t>(kind));
  }

  // An operator that knows its frame in the tables.
  SondeFile& placed(std::string_view name, std::uint64_t start, std::uint64_t end,
                    std::uint32_t frame, std::uint64_t sequence_and_1 = 0,
                    file::OperatorScope scope = file::OperatorScope::Forward) {
    return raw(
        {kFirstTick + start, file::make_placed(end - start, frame), sequence_and_1,
         file::make_word(id_of(names_, name), static_cast<std::uint16_t>(frame >> 16),
                         file::RecordType::PlacedOperator, static_cast<std::uint8_t>(scope))});
  }
  // A call of the runtime on this chunk's thread, and the kernel that it launches.
  SondeFile& launch(std::uint64_t start, std::uint64_t kernel_start, std::uint64_t kernel_end,
                    std::uint64_t id) {
    slice("cudaLaunchKernel", start, start + 1, SliceKind::Runtime, id);
    record(file::RecordType::Place, 5, 0, 1);
    record(file::RecordType::DeviceSlice, kFirstTick + kernel_start, kFirstTick + kernel_end,
           id + 1, "kernel", {}, static_cast<std::uint8_t>(SliceKind::Kernel));
    return record(file::RecordType::Link, kFirstTick + start, id, id + 1);
  }

  std::uint32_t name_id(std::string_view text) { return id_of(names_, text); }

  // The names come last, behind the records that use them.
  std::string bytes() const {
    file::FileHeader head = header;
    if (head.chunks == 0) head.chunks = chunks_.size() + 1;
    std::string out(header.chunk_bytes, '\0');
    std::memcpy(out.data(), &head, sizeof head);
    for (const std::string& chunk : chunks_) append(out, chunk);
    SondeFile last(header.chunk_bytes);
    last.chunk(0, chunks_.size() + 1, file::ChunkType::Names);
    std::string names = last.chunks_.back();
    for (const auto& [text, id] : names_) append_name(names, text, id, 0);
    for (const auto& [text, id] : domains_) append_name(names, text, id, file::kDomainBit);
    append(out, names);
    return out;
  }

 private:
  using Ids = std::map<std::string, std::uint32_t, std::less<>>;

  static std::uint32_t id_of(Ids& ids, std::string_view text) {
    if (text.empty()) return 0;
    return ids.try_emplace(std::string(text), static_cast<std::uint32_t>(ids.size() + 1))
        .first->second;
  }

  static void append_name(std::string& out, const std::string& text, std::uint32_t id,
                          std::uint32_t bit) {
    const file::NameEntry entry{static_cast<std::uint32_t>(text.size()) | bit, id};
    out.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    out += text;
    out.resize((out.size() + 7) / 8 * 8);
  }

  void append(std::string& out, std::string chunk) const {
    chunk.resize(header.chunk_bytes);
    out += chunk;
  }

  std::vector<std::string> chunks_;
  Ids names_;
  Ids domains_;
};

// One of everything: what the fuzzer begins with.
inline std::string rich_sonde_file() {
  using file::RecordType;
  constexpr std::uint64_t kAt = SondeFile::kFirstTick;
  SondeFile out;
  out.chunk(7);
  out.record(RecordType::ThreadName, kAt, 7, 0, "main thread");
  out.record(RecordType::ProcessName, kAt, 0, 0, "trainer");
  out.record(RecordType::Argument, 0, 64, 0, "batch", {}, 0);
  out.record(RecordType::Argument, 0, std::bit_cast<std::uint64_t>(0.5), 0, "rate", {}, 1);
  const std::uint64_t text = out.name_id("relu");
  out.record(RecordType::Argument, 0, text, 0, "activation", {}, 2);
  out.slice("conv", 10, 60, SliceKind::Operator, 0, "layers");
  out.slice("launch", 20, 30, SliceKind::Runtime, 11);
  out.slice("Step", 0, 100, SliceKind::Step, 3);
  out.record(RecordType::AsyncSlice, kAt + 5, kAt + 50, 0, "load", "data", 0);
  out.record(RecordType::AsyncSlice, kAt + 5, kAt + 50, 0, "frame", "data", 1);
  out.record(RecordType::AsyncBegin, kAt + 1, 77, 0, "request", "net");
  out.record(RecordType::Counter, kAt + 9, 42, 0, "queue", "data", 0);
  out.record(RecordType::Counter, kAt + 8, std::bit_cast<std::uint64_t>(1.5), 0, "loss", {}, 1);
  out.record(RecordType::Marker, kAt + 4, 0, 0, "epoch", "data", 'g');
  out.record(RecordType::Allocation, kAt + 3, 0x1000, 256, "weights", "pool", 1 << 4 | 2);
  out.record(RecordType::Thread, 0, 8, 0);
  out.record(RecordType::AsyncEnd, kAt + 90, 77, 0, "request", "net");
  out.record(RecordType::Allocation, kAt + 6, 0x1000, static_cast<std::uint64_t>(-256), "weights",
             "pool", 1 << 4 | 2);
  out.record(RecordType::Place, 5, 2, 1);
  out.record(RecordType::DeviceSlice, kAt + 35, kAt + 55, 12, "conv_kernel", {},
             static_cast<std::uint8_t>(SliceKind::Kernel));
  out.record(RecordType::Link, kAt + 30, 11, 12);
  out.record(RecordType::Operator, kAt + 60, kAt + 70, 4, "aten::relu", {}, 0);
  out.placed("aten::mm", 70, 90, 0x12345, 5);
  out.record(RecordType::CallPlace, kAt + 75, 3, 101);
  out.record(RecordType::Schedule, kAt + 95, 0, 0);
  return out.bytes();
}

}  // namespace sonde::test
