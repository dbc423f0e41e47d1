#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "base/result.hpp"
#include "import/importer.hpp"
#include "trace/builder.hpp"
#include "trace/file_format.hpp"

namespace sonde {

// The used part of one chunk of records, in memory of its own.
struct RecordChunk {
  std::uint64_t sequence = 0;
  std::uint32_t thread = 0;
  std::uint64_t offset = 0;  // in the file, of the chunk's first record
  std::size_t size = 0;      // of whole records, in bytes
  std::unique_ptr<char[]> bytes;
};

// The texts that records name by number.
class NameTable {
 public:
  void add(std::uint32_t id, bool domain, StringId text) {
    (domain ? domains_ : names_).set(id, text);
  }
  // Invalid where the file does not tell.
  StringId name(std::uint32_t id) const { return look_up(names_, id); }
  StringId domain(std::uint16_t id) const { return look_up(domains_, id); }

 private:
  static StringId look_up(const FlatMap<StringId>& map, std::uint32_t id) {
    const StringId* found = map.find(id);
    return found ? *found : StringId();
  }

  FlatMap<StringId> names_;
  FlatMap<StringId> domains_;
};

// A .sonde file cut into its parts. Names stand anywhere in it, also behind the records that use
// them, so that it is read whole before the first record is looked at.
struct RunFile {
  file::FileHeader header{};
  NameTable names;
  std::vector<RecordChunk> chunks;  // ordered by sequence
  std::uint64_t bytes = 0;
  std::uint64_t chunks_seen = 0;  // of all types
  std::uint64_t last_sequence = 0;
};

// Texts go into `builder`, damage into its ledger. Fails where the header cannot be used.
Result<RunFile> read_run_file(const ImportInput& input, TraceBuilder& builder);

}  // namespace sonde
