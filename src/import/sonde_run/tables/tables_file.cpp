#include "import/sonde_run/tables/tables_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kSmallestBlock = 512;
constexpr std::uint32_t kLargestBlock = 16 * 1024 * 1024;

bool all_zero(const char* bytes, std::size_t size) {
  return std::all_of(bytes, bytes + size, [](char c) { return c == 0; });
}

class BlockReader {
 public:
  BlockReader(TablesFile& file, TraceBuilder& builder)
      : file_(file), builder_(builder), names_(builder) {}

  std::uint64_t blocks_seen() const { return blocks_seen_; }

  void add(const char* bytes, std::size_t size, std::uint64_t offset) {
    tables::BlockHeader header{};
    if (size < sizeof header) {
      if (!all_zero(bytes, size)) add_damage(offset);
      return;
    }
    std::memcpy(&header, bytes, sizeof header);
    if (header.magic == 0) return;  // room that was never given out, or not finished
    ++blocks_seen_;
    if (header.magic != tables::kBlockMagic) return add_damage(offset);
    const char* const content = bytes + sizeof header;
    const std::size_t room = size - sizeof header;
    if (header.table == tables::Table::Text) return add_texts(header, content, room, offset);
    if (header.rows == 0) return;
    if (header.row_bytes == 0) return add_damage(offset);
    const std::size_t whole = room / header.row_bytes;
    if (header.rows > whole) add_damage(offset);
    add_rows(header, content, std::min<std::size_t>(header.rows, whole), offset);
  }

 private:
  void add_damage(std::uint64_t offset) {
    builder_.losses().add(
        "damaged_blocks", Severity::Warning,
        "Parts of a .tables file hold something else than rows; what can be read of them is here",
        1, offset);
  }

  void add_texts(const tables::BlockHeader& header, const char* content, std::size_t room,
                 std::uint64_t offset) {
    if (header.rows > room) add_damage(offset);
    const std::size_t used = std::min<std::size_t>(header.rows, room);
    for (std::size_t at = 0; at + sizeof(tables::TextEntry) <= used;) {
      tables::TextEntry entry{};
      std::memcpy(&entry, content + at, sizeof entry);
      at += sizeof entry;
      if (entry.id == 0 || entry.size > used - at) return add_damage(offset);
      file_.texts.set(entry.id, names_.intern({content + at, entry.size}));
      ++file_.row_count;
      at += (std::size_t{entry.size} + 7) / 8 * 8;
    }
  }

  void add_rows(const tables::BlockHeader& header, const char* content, std::size_t rows,
                std::uint64_t offset) {
    const auto into = [&](auto& list) { copy_rows(list, header.row_bytes, content, rows, offset); };
    switch (header.table) {
      case tables::Table::Text:
        return;
      case tables::Table::Property:
        return into(file_.properties);
      case tables::Table::Thread:
        return into(file_.threads);
      case tables::Table::Code:
        return into(file_.codes);
      case tables::Table::Function:
        return into(file_.functions);
      case tables::Table::Call:
        return into(file_.calls);
      case tables::Table::Line:
        return into(file_.lines);
      case tables::Table::Frame:
        return into(file_.frames);
      case tables::Table::Sample:
        return into(file_.samples);
      case tables::Table::Site:
        return into(file_.sites);
      case tables::Table::MemoryLine:
        return into(file_.memory_lines);
      case tables::Table::Snapshot:
        return into(file_.snapshots);
      case tables::Table::ObjectType:
        return into(file_.object_types);
      case tables::Table::OpenCall:
        return into(file_.open_calls);
    }
    builder_.losses().add("unknown_tables", Severity::Info,
                          "Rows of a .tables file of a kind that this Sonde does not know; a newer "
                          "one reads them",
                          rows, offset);
  }

  // Rows that are longer than known were written by a newer Sonde: their start means the same.
  template <class Row>
  void copy_rows(std::vector<Row>& list, std::size_t row_bytes, const char* content,
                 std::size_t rows, std::uint64_t offset) {
    if (row_bytes < sizeof(Row)) return add_damage(offset);
    const std::size_t first = list.size();
    list.resize(first + rows);
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(&list[first + i], content + i * row_bytes, sizeof(Row));
    }
    file_.row_count += rows;
    if (row_bytes > sizeof(Row)) {
      builder_.losses().add("longer_rows", Severity::Info,
                            "Rows of a .tables file that tell more than this Sonde knows; what it "
                            "knows of them is here",
                            rows, offset);
    }
  }

  TablesFile& file_;
  TraceBuilder& builder_;
  NamePool names_;
  std::uint64_t blocks_seen_ = 0;
};

void lose_file(TraceBuilder& builder, const std::string& reason) {
  builder.losses().add("tables_unreadable", Severity::Error,
                       "The sums and samples beside the recording are left out: " + reason);
}

}  // namespace

TablesFile read_tables_file(ByteSource& source, TraceBuilder& builder) {
  TablesFile out;
  std::vector<char> buffer(tables::kBlockBytes);
  Result<std::size_t> got = source.read(std::span(buffer).first(sizeof out.header));
  if (!got || *got < sizeof out.header) {
    lose_file(builder, got ? "the file ends inside of its header" : got.error().reason);
    return out;
  }
  std::memcpy(&out.header, buffer.data(), sizeof out.header);
  out.bytes = *got;
  const tables::FileHeader& header = out.header;
  if (header.version != tables::kVersion) {
    lose_file(builder, "they are of version " + std::to_string(header.version) +
                           " of the format, this Sonde reads version " +
                           std::to_string(tables::kVersion));
    return out;
  }
  if (header.block_bytes < kSmallestBlock || header.block_bytes > kLargestBlock ||
      header.block_bytes % 8 != 0) {
    lose_file(builder, "the header is damaged");
    return out;
  }
  buffer.resize(header.block_bytes);
  BlockReader reader(out, builder);
  // The rest of the header's block, then the others.
  std::size_t wanted = buffer.size() - sizeof out.header;
  for (bool head = true;; head = false) {
    got = source.read(std::span(buffer).first(wanted));
    if (!got) {
      // What came before the place that cannot be read is still good.
      builder.losses().add("unreadable", Severity::Error,
                           "A .tables file could not be read to its end: " + got.error().reason, 1,
                           out.bytes);
      break;
    }
    if (!head) reader.add(buffer.data(), *got, out.bytes);
    out.bytes += *got;
    if (*got < wanted) break;
    wanted = buffer.size();
  }
  if (header.blocks > reader.blocks_seen()) {
    builder.losses().add("tables_cut", Severity::Warning,
                         "A .tables file is shorter than what was recorded; what it holds is read",
                         1, out.bytes);
  }
  return out;
}

}  // namespace sonde
