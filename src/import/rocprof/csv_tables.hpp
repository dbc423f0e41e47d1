#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/importer.hpp"
#include "import/rocprof/record_assembler.hpp"

namespace sonde::rocprof {

// What a CSV file holds, by the names of its columns.
enum class CsvTable : std::uint8_t {
  Unknown,
  Agents,
  Counters,
  Kernels,
  Copies,
  Calls,
  Allocations,
  Other,   // timed records of another sort
  Totals,  // sums without times
};
CsvTable csv_table(const std::vector<std::string>& header);

// Reads one file to its end. `pid` is the process of rows that name none.
Result<bool> read_csv_table(ByteSource& source, std::int64_t pid, RecordAssembler& assembler,
                            TraceBuilder& builder, std::uint64_t& bytes);

}  // namespace sonde::rocprof
