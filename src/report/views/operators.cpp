#include "report/views/operators.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/operators.hpp"
#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

struct Row {
  std::string_view name;
  std::string_view detail;  // shapes or stack
  std::uint64_t calls = 0;
  Nanos host_total = 0;
  Nanos host_self = 0;
  Nanos device_total = 0;
  Nanos device_self = 0;
};

OperatorGrouping grouping_of(const ReportRequest& request) {
  if (request.group_by == "input_shape") return OperatorGrouping::NameShape;
  if (request.group_by == "stack") return OperatorGrouping::NameStack;
  return OperatorGrouping::Name;
}

std::vector<Row> collect(RunTraces traces, OperatorGrouping grouping) {
  std::map<std::pair<std::string_view, std::string_view>, Row> rows;
  for (const NamedTrace& named : traces) {
    const OpTree tree(named.trace);
    for (const OperatorStats& stats : operator_stats(named.trace, tree, grouping)) {
      std::string_view detail;
      if (grouping == OperatorGrouping::NameShape) detail = named.trace.text(stats.shapes);
      if (grouping == OperatorGrouping::NameStack) detail = named.trace.text(stats.stack);
      Row& row = rows[{named.trace.text(stats.name), detail}];
      row.name = named.trace.text(stats.name);
      row.detail = detail;
      row.calls += stats.calls;
      row.host_total += stats.host_total;
      row.host_self += stats.host_self;
      row.device_total += stats.device_total;
      row.device_self += stats.device_self;
    }
  }
  std::vector<Row> out;
  out.reserve(rows.size());
  for (auto& [key, row] : rows) {
    // Calls within calls may add up to more time than the operator around them.
    row.host_self = std::max<Nanos>(row.host_self, 0);
    row.device_self = std::max<Nanos>(row.device_self, 0);
    out.push_back(row);
  }
  return out;
}

void sort_rows(std::vector<Row>& rows, const std::string& key) {
  if (key == "gpu_self") sort_descending(rows, [](const Row& r) { return r.device_self; });
  if (key == "gpu_total") sort_descending(rows, [](const Row& r) { return r.device_total; });
  if (key == "cpu_self") sort_descending(rows, [](const Row& r) { return r.host_self; });
  if (key == "cpu_total") sort_descending(rows, [](const Row& r) { return r.host_total; });
  if (key == "calls") sort_descending(rows, [](const Row& r) { return r.calls; });
  // "name" is the order that they come in.
}

}  // namespace

const std::vector<std::string>& operators_sort_keys() {
  static const std::vector<std::string> kKeys = {"gpu_self",  "gpu_total", "cpu_self",
                                                 "cpu_total", "calls",     "name"};
  return kKeys;
}

OperatorRows operator_rows(RunTraces traces, const ReportRequest& request, std::size_t sensible) {
  OperatorRows out;
  const OperatorGrouping grouping = grouping_of(request);
  std::vector<Row> rows = collect(traces, grouping);
  Nanos host = 0;
  Nanos device = 0;
  bool details = false;
  for (const Row& row : rows) {
    host += row.host_self;
    device += row.device_self;
    details = details || !row.detail.empty();
  }
  if (rows.empty()) {
    out.empty = "No operators in this trace.";
    return out;
  }
  const bool timed = std::any_of(traces.begin(), traces.end(),
                                 [](const NamedTrace& named) { return has_times(named.trace); });
  const char* const own_order = !timed ? "calls" : device > 0 ? "gpu_self" : "cpu_self";
  sort_rows(rows, !request.sort.empty() ? request.sort : own_order);

  Block block;
  cut_rows(rows, request, sensible, block);
  out.notes = std::move(block.notes);
  if (grouping == OperatorGrouping::NameShape && !details) {
    out.notes.emplace_back("The trace has no input shapes: record with record_shapes=True.");
  }
  if (grouping == OperatorGrouping::NameStack && !details) {
    out.notes.emplace_back("The trace has no call stacks: record with with_stack=True.");
  }

  if (!timed) {
    out.notes.emplace_back("This trace has no times: how often operators ran is all it tells.");
  }

  out.table.columns = {{.key = "name", .header = "Operator", .least = 24},
                       {.key = "calls", .header = "Calls", .type = CellType::Integer}};
  const bool on_device = timed && device > 0;
  if (on_device) {
    out.table.columns.insert(
        out.table.columns.end(),
        {{.key = "gpu_self_ns", .header = "GPU self", .type = CellType::Duration},
         {.key = "gpu_self_percent", .header = "GPU %", .type = CellType::Percent, .drop = 2},
         {.key = "gpu_total_ns", .header = "GPU total", .type = CellType::Duration, .drop = 1}});
  }
  if (timed)
    out.table.columns.insert(
        out.table.columns.end(),
        {{.key = "cpu_self_ns", .header = "CPU self", .type = CellType::Duration},
         {.key = "cpu_self_percent", .header = "CPU %", .type = CellType::Percent, .drop = 2},
         {.key = "cpu_total_ns", .header = "CPU total", .type = CellType::Duration, .drop = 1}});
  if (grouping == OperatorGrouping::NameShape) {
    out.table.columns.push_back({.key = "input_shape", .header = "Input shapes", .least = 24});
  }
  if (grouping == OperatorGrouping::NameStack) {
    out.table.columns.push_back({.key = "stack", .header = "Call stack", .least = 24});
  }
  for (const Row& row : rows) {
    std::vector<Cell> cells = {text_cell(row.name), count_cell(row.calls)};
    if (on_device) {
      cells.insert(cells.end(), {time_cell(row.device_self), share_cell(row.device_self, device),
                                 time_cell(row.device_total)});
    }
    if (timed) {
      cells.insert(cells.end(), {time_cell(row.host_self), share_cell(row.host_self, host),
                                 time_cell(row.host_total)});
    }
    if (grouping != OperatorGrouping::Name) cells.push_back(text_cell(row.detail));
    out.table.rows.push_back(std::move(cells));
  }
  return out;
}

Document operators_view(RunTraces traces, const ReportRequest& request) {
  OperatorRows rows = operator_rows(traces, request, kSensibleRows);
  Document out;
  out.view = "operators";
  out.title = view_title("Operators", traces, "sums over all");
  out.csv_block = "operators";
  out.blocks.push_back({"operators", "", std::move(rows.table), rows.empty, rows.notes});
  return out;
}

}  // namespace sonde
