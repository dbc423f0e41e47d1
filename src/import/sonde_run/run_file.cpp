#include "import/sonde_run/run_file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kSmallestChunk = 4096;
constexpr std::uint32_t kLargestChunk = 16 * 1024 * 1024;

Error broken(std::string reason, std::string hint) {
  return {ErrorCode::BrokenInput, std::move(reason), {}, {}, std::move(hint)};
}

bool all_zero(const char* bytes, std::size_t size) {
  return std::all_of(bytes, bytes + size, [](char c) { return c == 0; });
}

// How many bytes are used, if everything behind them is 0.
std::size_t used_bytes(const char* bytes, std::size_t size) {
  while (size >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + size - 8, 8);
    if (word != 0) break;
    size -= 8;
  }
  while (size > 0 && bytes[size - 1] == 0) --size;
  return size;
}

class ChunkReader {
 public:
  ChunkReader(RunFile& file, TraceBuilder& builder, const RunReading& reading)
      : file_(file), builder_(builder), reading_(reading) {
    if (reading_.names == nullptr) return;
    for (const RunNames::Name& name : reading_.names->names)
      file_.names.add(name.id, name.domain, builder_.intern(name.text));
  }

  // Whether chunks came in another order than that of their sequence.
  bool out_of_order() const { return out_of_order_; }

  void add(const char* bytes, std::size_t size, std::uint64_t offset) {
    if (size < sizeof(file::ChunkHeader)) {
      if (!all_zero(bytes, size)) add_damage(offset);
      return;
    }
    file::ChunkHeader header{};
    std::memcpy(&header, bytes, sizeof header);
    // Room that was never given out, or whose header was not finished.
    if (header.magic == 0) return;
    if (header.magic != file::kChunkMagic) return add_damage(offset);
    ++file_.chunks_seen;
    file_.last_sequence = std::max(file_.last_sequence, header.sequence);
    const char* const content = bytes + sizeof header;
    const std::size_t used = used_bytes(content, size - sizeof header);
    const std::uint64_t at = offset + sizeof header;
    switch (header.type) {
      case file::ChunkType::Records:
      case file::ChunkType::Kept:
        // What is kept speaks of the process, and of threads by their ids.
        if (header.type == file::ChunkType::Kept) header.thread = file_.header.pid;
        return add_records(header, content, used, size - sizeof header, at);
      case file::ChunkType::Names:
        return add_names(content, used, size - sizeof header, at);
    }
    add_damage(offset);
  }

 private:
  void add_damage(std::uint64_t offset) {
    builder_.losses().add("damaged_chunks", Severity::Warning,
                          "Parts of the file hold something else than records; they are left out",
                          1, offset);
  }

  void add_records(const file::ChunkHeader& header, const char* content, std::size_t used,
                   std::size_t size, std::uint64_t offset) {
    constexpr std::size_t kStep = sizeof(file::Record);
    out_of_order_ = out_of_order_ || header.sequence < sequence_;
    sequence_ = header.sequence;
    if (reading_.keep_names != nullptr) return;
    // A record that the end of the file cuts cannot be whole.
    const std::size_t whole = std::min((used + kStep - 1) / kStep, size / kStep) * kStep;
    RecordChunk chunk;
    chunk.sequence = header.sequence;
    chunk.thread = header.thread;
    chunk.offset = offset;
    chunk.size = whole;
    chunk.bytes = std::make_unique_for_overwrite<char[]>(whole);
    if (whole > 0) std::memcpy(chunk.bytes.get(), content, whole);
    if (reading_.chunk)
      reading_.chunk(std::move(chunk));
    else
      file_.chunks.push_back(std::move(chunk));
  }

  void add_names(const char* content, std::size_t used, std::size_t size, std::uint64_t offset) {
    if (reading_.names != nullptr) return;
    std::size_t at = 0;
    while (at + sizeof(file::NameEntry) <= used) {
      file::NameEntry entry{};
      std::memcpy(&entry, content + at, sizeof entry);
      if (entry.id == 0) return;  // not finished when the program ended
      const bool domain = (entry.size & file::kDomainBit) != 0;
      const std::size_t length = entry.size & ~file::kDomainBit;
      const std::size_t text = at + sizeof entry;
      if (length > size - text) return add_damage(offset + at);
      const StringId name = intern({content + text, length}, offset + text);
      file_.names.add(entry.id, domain, name);
      if (reading_.keep_names != nullptr)
        reading_.keep_names->names.push_back({entry.id, domain, std::string(builder_.text(name))});
      at = text + (length + 7) / 8 * 8;
    }
  }

  StringId intern(std::string_view text, std::uint64_t offset) {
    if (is_utf8(text)) return builder_.intern(text);
    const std::string mended = mend_utf8(text);
    builder_.losses().add("invalid_utf8", Severity::Info,
                          "Names that are not UTF-8; the bytes are shown as U+FFFD", 1, offset,
                          mended);
    return builder_.intern(mended);
  }

  RunFile& file_;
  TraceBuilder& builder_;
  const RunReading& reading_;
  std::uint64_t sequence_ = 0;
  bool out_of_order_ = false;
};

Result<bool> check_header(const file::FileHeader& header) {
  if (header.version != file::kVersion) {
    return Error{ErrorCode::Unsupported,
                 "recorded in version " + std::to_string(header.version) +
                     " of the format, this Sonde reads version " + std::to_string(file::kVersion),
                 {},
                 {},
                 "read it with the Sonde that recorded it"};
  }
  if (header.chunk_bytes < kSmallestChunk || header.chunk_bytes > kLargestChunk ||
      header.chunk_bytes % sizeof(file::Record) != 0) {
    return broken("the header of the recording is damaged", "copy the file again");
  }
  return true;
}

}  // namespace

Result<bool> read_run_file(const ImportInput& input, TraceBuilder& builder, RunFile& out,
                           const RunReading& reading) {
  std::vector<char> head(file::kHeaderBytes);
  Result<std::size_t> got = input.source.read(head);
  if (!got) return got.error();
  if (*got < sizeof(file::FileHeader)) {
    return broken("the recording ends inside of its header", "copy the file again");
  }
  std::memcpy(&out.header, head.data(), sizeof out.header);
  if (Result<bool> fine = check_header(out.header); !fine) return fine.error();

  ChunkReader reader(out, builder, reading);
  std::vector<char> buffer(out.header.chunk_bytes);
  out.bytes = *got;
  // The rest of the header's place.
  if (*got == head.size() && buffer.size() > head.size()) {
    got = input.source.read(std::span(buffer).first(buffer.size() - head.size()));
    if (!got) return got.error();
    out.bytes += *got;
  }
  for (std::uint64_t since_progress = 0;;) {
    got = input.source.read(buffer);
    if (!got) {
      // What came before the place that cannot be read is still good.
      builder.losses().add("unreadable", Severity::Error,
                           "The file could not be read to its end: " + got.error().reason, 1,
                           out.bytes);
      break;
    }
    reader.add(buffer.data(), *got, out.bytes);
    out.bytes += *got;
    since_progress += *got;
    if (input.options.progress && since_progress >= 16u << 20) {
      since_progress = 0;
      input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
    }
    if (*got < buffer.size()) break;
  }
  std::stable_sort(
      out.chunks.begin(), out.chunks.end(),
      [](const RecordChunk& a, const RecordChunk& b) { return a.sequence < b.sequence; });
  return !reader.out_of_order();
}

}  // namespace sonde
