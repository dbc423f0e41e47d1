#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.hpp"
#include "import/input/byte_source.hpp"
#include "trace/builder.hpp"
#include "trace/tables/format.hpp"

namespace sonde {

// The rows of a .tables file, each with what this Sonde knows of it, in the order of the file.
struct TablesFile {
  tables::FileHeader header{};
  std::uint64_t bytes = 0;
  std::uint64_t row_count = 0;

  FlatMap<StringId> texts;  // by number
  std::vector<tables::PropertyRow> properties;
  std::vector<tables::ThreadRow> threads;
  std::vector<tables::CodeRow> codes;
  std::vector<tables::FunctionRow> functions;
  std::vector<tables::CallRow> calls;
  std::vector<tables::OpenCallRow> open_calls;
  std::vector<tables::LineRow> lines;
  std::vector<tables::FrameRow> frames;
  std::vector<tables::SampleRow> samples;
  std::vector<tables::SiteRow> sites;
  std::vector<tables::MemoryLineRow> memory_lines;
  std::vector<tables::SnapshotRow> snapshots;
  std::vector<tables::ObjectTypeRow> object_types;
};

// Reads block by block; nothing is allocated by a number of the file. Damage is counted in the
// builder's ledger, and the rest is read; without a usable header the result is empty.
TablesFile read_tables_file(ByteSource& source, TraceBuilder& builder);

}  // namespace sonde
