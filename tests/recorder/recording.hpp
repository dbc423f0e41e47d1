#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/file_format.hpp"

// Reads a .sonde file as src/trace/file_format.hpp describes it, and nothing more: what the
// recorder wrote, before any importer gives it a meaning. Everything that does not fit is a
// complaint.

namespace sonde::testing {

struct ReadArgument {
  std::string key;
  file::ArgumentType type{};
  std::uint64_t value = 0;
  std::string text;
};

struct ReadRecord {
  std::uint32_t thread = 0;
  std::size_t segment = 0;  // records of a thread that stand together in one chunk
  file::RecordType type{};
  std::uint8_t extra = 0;
  std::string name;
  std::string domain;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  file::Record place{};
  std::vector<ReadArgument> arguments;

  // When it was written; 0 where the record does not tell.
  std::uint64_t finished() const {
    if (type == file::RecordType::DeviceSlice) return 0;
    const bool slice = type == file::RecordType::Slice || type == file::RecordType::AsyncSlice;
    return slice ? b : a;
  }
};

struct Recording {
  file::FileHeader header{};
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint32_t, std::string> domains;
  std::vector<ReadRecord> records;  // chunk after chunk, by sequence
  std::vector<std::string> complaints;
  std::uint64_t chunks = 0;

  std::vector<ReadRecord> of(file::RecordType type) const {
    std::vector<ReadRecord> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [type](const ReadRecord& record) { return record.type == type; });
    return found;
  }
  // The records of each thread in the order in which it finished them. A thread may go on in an
  // older chunk: its segments are ordered by their times.
  std::map<std::uint32_t, std::vector<ReadRecord>> by_thread() const {
    std::map<std::size_t, std::uint64_t> begins;
    for (const ReadRecord& record : records) {
      if (const std::uint64_t time = record.finished()) begins.emplace(record.segment, time);
    }
    std::map<std::uint32_t, std::vector<ReadRecord>> threads;
    for (const ReadRecord& record : records) threads[record.thread].push_back(record);
    for (auto& [thread, list] : threads) {
      std::stable_sort(list.begin(), list.end(), [&](const ReadRecord& x, const ReadRecord& y) {
        return begins[x.segment] < begins[y.segment];
      });
    }
    return threads;
  }
  std::vector<ReadRecord> named(const std::string& name) const {
    std::vector<ReadRecord> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [&](const ReadRecord& record) { return record.name == name; });
    return found;
  }
};

class RecordingReader {
 public:
  static Recording read(const std::filesystem::path& path) {
    RecordingReader reader;
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    reader.bytes_.resize(failed ? 0 : size);
    std::ifstream stream(path, std::ios::binary);
    stream.read(reader.bytes_.data(), static_cast<std::streamsize>(reader.bytes_.size()));
    reader.run();
    return std::move(reader.out_);
  }

 private:
  void complain(const std::string& text) { out_.complaints.push_back(text); }

  void run() {
    if (bytes_.size() < file::kHeaderBytes) return complain("no header");
    std::memcpy(&out_.header, bytes_.data(), sizeof out_.header);
    if (std::memcmp(out_.header.magic, file::kMagic, 8) != 0) return complain("no magic");
    if (out_.header.version != file::kVersion) return complain("version");
    std::map<std::uint64_t, const char*> chunks;
    for (std::uint64_t i = 0; i < out_.header.chunks; ++i) {
      const std::size_t at = file::chunk_offset(i);
      if (at + file::kChunkBytes > bytes_.size()) return complain("file is too short");
      const auto chunk = read_at<file::ChunkHeader>(bytes_.data() + at);
      if (chunk.magic == 0) continue;
      if (chunk.magic != file::kChunkMagic) {
        complain("chunk magic");
        continue;
      }
      ++out_.chunks;
      if (!chunks.emplace(chunk.sequence, bytes_.data() + at).second) complain("double sequence");
    }
    for (const auto& [sequence, chunk] : chunks) {
      if (read_at<file::ChunkHeader>(chunk).type == file::ChunkType::Names) read_names(chunk);
    }
    for (const auto& [sequence, chunk] : chunks) {
      if (read_at<file::ChunkHeader>(chunk).type != file::ChunkType::Names) read_records(chunk);
    }
  }

  template <typename T>
  static T read_at(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  void read_names(const char* chunk) {
    std::size_t at = sizeof(file::ChunkHeader);
    while (at + sizeof(file::NameEntry) <= file::kChunkBytes) {
      const auto entry = read_at<file::NameEntry>(chunk + at);
      if (entry.id == 0) return;
      at += sizeof entry;
      const std::size_t size = entry.size & ~file::kDomainBit;
      if (at + size > file::kChunkBytes) return complain("name over the end");
      auto& names = entry.size & file::kDomainBit ? out_.domains : out_.names;
      if (!names.emplace(entry.id, std::string(chunk + at, size)).second) complain("double name");
      at += (size + 7) / 8 * 8;
    }
  }

  const std::string& text(const std::map<std::uint32_t, std::string>& names, std::uint32_t id) {
    static const std::string kEmpty;
    if (id == 0) return kEmpty;
    const auto found = names.find(id);
    if (found != names.end()) return found->second;
    complain("unknown name " + std::to_string(id));
    return kEmpty;
  }

  void read_records(const char* chunk) {
    std::uint32_t thread = read_at<file::ChunkHeader>(chunk).thread;
    ++segments_;
    ReadRecord next;
    for (std::size_t i = 0; i < file::kRecordsPerChunk; ++i) {
      const auto record = read_at<file::Record>(chunk + sizeof(file::ChunkHeader) + i * 32);
      if (record.word == 0) {
        check_rest(chunk, i);
        return;
      }
      const file::RecordType type = file::word_type(record.word);
      if (type == file::RecordType::None || type > file::RecordType::Place) {
        complain("unknown record type");
        continue;
      }
      const std::string& name = text(out_.names, file::word_name(record.word));
      switch (type) {
        case file::RecordType::Thread:
          thread = static_cast<std::uint32_t>(record.b);
          ++segments_;
          next = {};
          continue;
        case file::RecordType::Argument: {
          const auto kind = static_cast<file::ArgumentType>(file::word_extra(record.word));
          next.arguments.push_back({name, kind, record.b,
                                    kind == file::ArgumentType::Name
                                        ? text(out_.names, static_cast<std::uint32_t>(record.b))
                                        : std::string()});
          continue;
        }
        case file::RecordType::Place:
          next.place = record;
          continue;
        default:
          break;
      }
      next.thread = thread;
      next.segment = segments_;
      next.type = type;
      next.extra = file::word_extra(record.word);
      next.name = name;
      next.domain = text(out_.domains, file::word_domain(record.word));
      next.a = record.a;
      next.b = record.b;
      next.c = record.c;
      out_.records.push_back(std::move(next));
      next = {};
    }
  }

  // Behind the last record lies one that was not finished, at the most.
  void check_rest(const char* chunk, std::size_t from) {
    for (std::size_t i = from + 1; i < file::kRecordsPerChunk; ++i) {
      const auto record = read_at<file::Record>(chunk + sizeof(file::ChunkHeader) + i * 32);
      if (record.a || record.b || record.c || record.word) return complain("data behind the end");
    }
  }

  std::vector<char> bytes_;
  std::size_t segments_ = 0;
  Recording out_;
};

inline Recording read_recording(const std::filesystem::path& path) {
  return RecordingReader::read(path);
}

// The .sonde files in a folder, in the order of their names.
inline std::vector<std::filesystem::path> recordings(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".sonde") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace sonde::testing
