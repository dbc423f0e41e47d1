#include <algorithm>
#include <string>

#include "import/nsys/callchains.hpp"
#include "import/nsys/report_file.hpp"

namespace sonde::nsys {
namespace {

bool has_column(const SqliteFile::Table& table, std::string_view name) {
  return std::find(table.columns.begin(), table.columns.end(), name) != table.columns.end();
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

void read_calls(ReportFile& file, const SqliteFile::Table& table, SliceKind kind,
                std::string_view category) {
  TraceBuilder& builder = file.builder();
  const Callchains stacks =
      Callchains::of_calls(file, table.name == "OSRT_API" ? "OSRT_CALLCHAINS" : "", table);
  TableReader rows(file.database(), table,
                   {"start", "end", "globalTid", "nameId", "textId", "returnValue", "callchainId"});
  const StringId word = builder.intern(category);
  const bool named_by_text = !has_column(table, "nameId");
  while (rows.next()) {
    const StringId name = file.text(rows.integer(named_by_text ? 4 : 3));
    const SliceId slice = file.add_slice(rows.integer(0), rows.integer(1),
                                         file.thread(rows.integer(2, 0)), name, kind);
    if (!slice.valid()) continue;
    if (kind == SliceKind::Communication) builder.add_operator(slice, OperatorRow());
    if (kind != SliceKind::Overhead) builder.add_category(slice, word);
    if (const auto result = rows.integer(5); result && *result != 0) {
      builder.add_argument({slice, builder.intern("return value"), *result});
    }
    if (const StringId stack = stacks.text(rows.integer(6)); stack.valid()) {
      builder.add_argument({slice, builder.intern("Call stack"), stack});
    }
  }
  file.note_damage(table, rows);
}

}  // namespace

bool is_call_table(const SqliteFile::Table& table) {
  if (is_known_table(table.name)) return false;
  return has_column(table, "start") && has_column(table, "end") && has_column(table, "globalTid") &&
         (has_column(table, "nameId") || has_column(table, "textId"));
}

void read_host_tables(ReportFile& file) {
  if (const SqliteFile::Table* table = file.database().table("OSRT_API")) {
    read_calls(file, *table, SliceKind::Api, "osrt");
  }
  if (const SqliteFile::Table* table = file.database().table("PROFILER_OVERHEAD")) {
    read_calls(file, *table, SliceKind::Overhead, "overhead");
  }
  for (const SqliteFile::Table& table : file.database().tables()) {
    if (!is_call_table(table)) continue;
    const bool communicates = table.name.starts_with("MPI_") || table.name.starts_with("NCCL_") ||
                              table.name.starts_with("UCX_") || table.name.starts_with("NVSHMEM_");
    std::string category = lower(table.name);
    if (category.ends_with("_events")) category.resize(category.size() - 7);
    read_calls(file, table, communicates ? SliceKind::Communication : SliceKind::Api, category);
  }
}

}  // namespace sonde::nsys
