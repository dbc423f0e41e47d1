#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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
// them, so that all of it is read before the first record is looked at; or it is read twice, see
// RunReading.
struct RunFile {
  file::FileHeader header{};
  NameTable names;
  std::vector<RecordChunk> chunks;  // ordered by sequence
  std::uint64_t bytes = 0;
  std::uint64_t chunks_seen = 0;  // of all types
  std::uint64_t last_sequence = 0;
};

// The names of a file, known before its records are read.
struct RunNames {
  struct Name {
    std::uint32_t id;
    bool domain;
    std::string text;
  };
  std::vector<Name> names;
};

// Another way to read a file than whole.
struct RunReading {
  // Where it is set, the names that the file holds are put there and no record is kept.
  RunNames* keep_names = nullptr;
  // Takes each chunk of records as it comes; `names` are known by then.
  std::function<void(RecordChunk&& chunk)> chunk;
  const RunNames* names = nullptr;
};

// Texts go into `builder`, damage into its ledger. Fails where the header cannot be used. `file` is
// new; its header and names are there before the first chunk is handed on. Tells whether the chunks
// lie in the order of their sequence.
Result<bool> read_run_file(const ImportInput& input, TraceBuilder& builder, RunFile& file,
                           const RunReading& reading = {});

}  // namespace sonde
