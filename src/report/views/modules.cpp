#include "report/views/modules.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "analysis/modules.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 40;

struct Row {
  std::string name;
  ModuleStats stats;
};

// Of all traces together.
std::vector<Row> sum_up(RunTraces traces) {
  std::vector<Row> rows;
  std::map<std::string_view, std::size_t> known;
  for (const NamedTrace& named : traces) {
    for (const ModuleStats& stats : module_stats(named.trace)) {
      const std::string_view name = named.trace.text(stats.name);
      const auto [at, added] = known.try_emplace(name, rows.size());
      if (added) rows.push_back({std::string(name), {}});
      ModuleStats& sum = rows[at->second].stats;
      sum.calls += stats.calls;
      sum.host_total += stats.host_total;
      sum.host_self += stats.host_self;
      sum.device_total += stats.device_total;
      sum.device_self += stats.device_self;
      sum.device_backward += stats.device_backward;
    }
  }
  return rows;
}

void sort_rows(std::vector<Row>& rows, const std::string& key, bool has_device) {
  const auto value = [&](const Row& row) -> Nanos {
    if (key == "host_self") return row.stats.host_self;
    if (key == "host_total") return row.stats.host_total;
    if (key == "device_self") return row.stats.device_self;
    if (key == "device_total") return row.stats.device_total;
    if (key == "calls") return row.stats.calls;
    return has_device ? row.stats.device_total : row.stats.host_total;
  };
  if (key == "name") {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.name < b.name; });
    return;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return value(a) > value(b); });
}

}  // namespace

Document modules_view(RunTraces traces, const ReportRequest& request) {
  std::vector<Row> rows = sum_up(traces);
  const bool has_device = std::any_of(rows.begin(), rows.end(),
                                      [](const Row& row) { return row.stats.device_total > 0; });
  sort_rows(rows, request.sort, has_device);
  Block block;
  block.id = "modules";
  block.when_empty =
      "No modules in this trace: 'sonde run' records them in programs that use torch.nn, and so "
      "does "
      "torch.profiler with with_stack=True.";
  cut_rows(rows, request, kSensibleRows, block);
  Table table;
  table.columns = {{.key = "module", .header = "Module", .cut = Cut::Middle, .least = 20},
                   {.key = "calls", .header = "Calls", .type = CellType::Integer}};
  if (has_device) {
    table.columns.push_back(
        {.key = "device_self_ns", .header = "GPU self", .type = CellType::Duration});
    table.columns.push_back(
        {.key = "device_total_ns", .header = "GPU total", .type = CellType::Duration});
    table.columns.push_back(
        {.key = "device_backward_ns", .header = "backward", .type = CellType::Duration});
  }
  table.columns.push_back(
      {.key = "host_self_ns", .header = "CPU self", .type = CellType::Duration});
  table.columns.push_back(
      {.key = "host_total_ns", .header = "CPU total", .type = CellType::Duration});
  for (const Row& row : rows) {
    const ModuleStats& stats = row.stats;
    std::vector<Cell> cells = {text_cell(row.name), Cell(stats.calls)};
    if (has_device) {
      for (const Nanos time : {stats.device_self, stats.device_total, stats.device_backward}) {
        cells.push_back(time_cell(time));
      }
    }
    cells.push_back(time_cell(stats.host_self));
    cells.push_back(time_cell(stats.host_total));
    table.rows.push_back(std::move(cells));
  }
  if (has_device && !table.rows.empty()) {
    block.notes.push_back(
        "GPU: kernels, copies and sets that the module launched, and what the backward pass of its "
        "operators launched; CPU: the module's own calls.");
  }
  block.content = std::move(table);
  Document out;
  out.view = "modules";
  out.title = view_title("Modules", traces, "all together");
  out.csv_block = "modules";
  out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace sonde
