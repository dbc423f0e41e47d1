#include "report/views/framework_ops.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/trace_facts.hpp"
#include "report/views/op_rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 25;

FrameworkOps collect(RunTraces traces) {
  FrameworkOps out;
  std::map<std::tuple<bool, std::string_view, std::string_view>, FrameworkOp> rows;
  for (const NamedTrace& named : traces) {
    if (!has_times(named.trace)) continue;
    const FrameworkOps ops = framework_ops(named.trace);
    out.device_self += ops.device_self;
    out.host_self += ops.host_self;
    out.device_idle += ops.device_idle;
    out.host_idle += ops.host_idle;
    for (const FrameworkOp& op : ops.ops) {
      const auto [at, fresh] = rows.try_emplace({op.on_device, op.type, op.name}, op);
      if (fresh) continue;
      add_sums(at->second, op);
    }
  }
  for (auto& [key, op] : rows) out.ops.push_back(op);
  return out;
}

}  // namespace

const std::vector<std::string>& framework_ops_sort_keys() {
  static const std::vector<std::string> kKeys = {"self", "total", "average", "occurrences", "name"};
  return kKeys;
}

Document framework_ops_view(RunTraces traces, const ReportRequest& request) {
  FrameworkOps ops = collect(traces);
  sort_ops(ops.ops, request.sort);
  // Shares are of the time on host or device, as it was or with the idle time in it.
  Block block;
  block.id = "framework_ops";
  block.when_empty =
      "No operators of a framework in this trace. What was compiled from them is in the view "
      "hlo-ops.";
  Table table;
  table.columns = {
      {.key = "rank", .header = "Rank", .type = CellType::Integer, .drop = 7},
      {.key = "host_or_device", .header = "Where"},
      {.key = "type", .header = "Type", .cut = Cut::Middle, .least = 10},
      {.key = "operation", .header = "Operator", .cut = Cut::Middle, .least = 24},
      {.key = "occurrences", .header = "Occur.", .type = CellType::Integer},
      {.key = "total_ns", .header = "Total", .type = CellType::Duration, .drop = 1},
      {.key = "average_ns", .header = "Average", .type = CellType::Duration, .drop = 4},
      {.key = "self_ns", .header = "Self", .type = CellType::Duration},
      {.key = "average_self_ns", .header = "Avg self", .type = CellType::Duration, .drop = 4},
      {.key = "device_self_percent",
       .header = "Device",
       .type = CellType::Percent,
       .hide_zero = true},
      {.key = "device_cumulative_percent",
       .header = "Cumul.",
       .type = CellType::Percent,
       .drop = 2,
       .hide_zero = true},
      {.key = "host_self_percent", .header = "Host", .type = CellType::Percent, .hide_zero = true},
      {.key = "host_cumulative_percent",
       .header = "Cumul.",
       .type = CellType::Percent,
       .drop = 2,
       .hide_zero = true},
      {.key = "gflops_per_s",
       .header = "GFLOP/s",
       .type = CellType::Real,
       .drop = 3,
       .hide_zero = true},
      {.key = "memory_gib_per_s",
       .header = "GiB/s",
       .type = CellType::Real,
       .drop = 3,
       .hide_zero = true},
      {.key = "flops_per_byte",
       .header = "FLOP/B",
       .type = CellType::Real,
       .drop = 5,
       .hide_zero = true}};
  if (std::none_of(traces.begin(), traces.end(),
                   [](const NamedTrace& named) { return has_times(named.trace); })) {
    block.when_empty = "This trace has no times: see the view operators for its counts.";
  }
  Picos device = 0;
  Picos host = 0;
  std::vector<std::vector<Cell>> rows;
  for (const FrameworkOp& op : ops.ops) {
    Picos& sum = op.on_device ? device : host;
    const Picos whole = op.on_device ? ops.device_self : ops.host_self;
    sum += op.self;
    const Cell share = share_cell(op.self, whole);
    const Cell cumulative = share_cell(sum, whole);
    const Cell none = 0.0;
    const std::int64_t rank = static_cast<std::int64_t>(rows.size()) + 1;
    rows.push_back(
        {rank, std::string(op.on_device ? "Device" : "Host"), text_cell(op.type),
         text_cell(op.name), count_cell(op.occurrences), picos_cell(static_cast<double>(op.total)),
         picos_cell(average(op.total, op.occurrences)), picos_cell(static_cast<double>(op.self)),
         picos_cell(average(op.self, op.occurrences)), op.on_device ? share : none,
         op.on_device ? cumulative : none, op.on_device ? none : share,
         op.on_device ? none : cumulative, rate_cell(op.flops, op.total, 1e9),
         rate_cell(op.bytes, op.total, kGib), op.bytes > 0 ? Cell(op.flops / op.bytes) : Cell()});
  }
  cut_rows(rows, request, kSensibleRows, block);
  table.rows = std::move(rows);
  block.content = std::move(table);

  Block idle;
  idle.id = "idle";
  idle.title = "Idle";
  const auto fact = [](std::string key, std::string label, Picos time) {
    return Fact{std::move(key),
                std::move(label),
                picos_cell(static_cast<double>(time)),
                CellType::Duration,
                {}};
  };
  Facts facts;
  if (request.for_programs() || ops.device_idle + ops.device_self > 0) {
    facts.push_back(fact("device_idle_ns", "Devices, first to last work", ops.device_idle));
    facts.push_back(fact("device_busy_ns", "Devices, operators", ops.device_self));
  }
  if (request.for_programs() || ops.host_idle + ops.host_self > 0) {
    facts.push_back(fact("host_idle_ns", "Host threads, first to last operator", ops.host_idle));
    facts.push_back(fact("host_busy_ns", "Host threads, operators", ops.host_self));
  }
  const bool any_idle = !facts.empty();
  idle.content = std::move(facts);
  Document out;
  out.view = "framework-ops";
  out.title = view_title("Framework operators", traces, "sums over all");
  out.csv_block = "framework_ops";
  out.blocks.push_back(std::move(block));
  if (any_idle) out.blocks.push_back(std::move(idle));
  return out;
}

}  // namespace sonde
