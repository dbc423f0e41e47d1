#include "report/views/memcpy.hpp"

#include "analysis/memcpy.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

void sort_rows(std::vector<CopyStats>& rows, const std::string& key) {
  if (key == "count") {
    sort_descending(rows, [](const CopyStats& r) { return r.count; });
  } else if (key == "bytes") {
    sort_descending(rows, [](const CopyStats& r) { return r.bytes; });
  } else if (key == "bandwidth") {
    sort_descending(rows, [](const CopyStats& r) { return r.mean_bandwidth().value_or(-1); });
  } else if (key != "name") {
    sort_descending(rows, [](const CopyStats& r) { return r.time; });
  }
}

}  // namespace

const std::vector<std::string>& memcpy_sort_keys() {
  static const std::vector<std::string> kKeys = {"time", "bytes", "count", "bandwidth", "name"};
  return kKeys;
}

Document memcpy_view(RunTraces traces, const ReportRequest& request) {
  std::vector<CopyStats> rows;
  for (const NamedTrace& named : traces) merge_copy_stats(rows, copy_stats(named.trace));
  Nanos time = 0;
  for (const CopyStats& row : rows) time += row.time;
  sort_rows(rows, request.sort);

  Block block;
  block.id = "memcpy";
  block.when_empty =
      "No copies in this trace: nothing moved to or from a GPU, or it was not recorded.";
  cut_rows(rows, request, kSensibleRows, block);
  Table table;
  table.columns = {
      {.key = "name", .header = "Copy", .cut = Cut::Middle, .least = 24},
      {.key = "count", .header = "Count", .type = CellType::Integer},
      {.key = "bytes", .header = "Bytes", .type = CellType::Bytes},
      {.key = "time_ns", .header = "Time", .type = CellType::Duration},
      {.key = "time_percent", .header = "Share", .type = CellType::Percent, .drop = 2},
      {.key = "mean_gb_per_s", .header = "Mean GB/s", .type = CellType::Real},
      {.key = "min_gb_per_s", .header = "Min GB/s", .type = CellType::Real, .drop = 1},
      {.key = "max_gb_per_s", .header = "Max GB/s", .type = CellType::Real, .drop = 1}};
  for (const CopyStats& row : rows) {
    const bool sized = row.sized_count > 0;
    const std::optional<double> mean = row.mean_bandwidth();
    table.rows.push_back({row.name, count_cell(row.count), sized ? Cell(row.bytes) : Cell(),
                          time_cell(row.time), share_cell(row.time, time),
                          mean ? Cell(*mean) : Cell(), sized ? Cell(row.min_bandwidth) : Cell(),
                          sized ? Cell(row.max_bandwidth) : Cell()});
  }
  block.content = std::move(table);

  Document out;
  out.view = "memcpy";
  out.title = view_title("Copies and memsets", traces, "sums over all");
  out.csv_block = "memcpy";
  out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace sonde
