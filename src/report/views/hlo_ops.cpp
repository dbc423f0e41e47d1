#include "report/views/hlo_ops.hpp"

#include <map>
#include <tuple>

#include "report/views/op_rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 25;

HloOps collect(RunTraces traces) {
  HloOps out;
  std::map<std::tuple<std::string, std::string_view>, HloOp> rows;
  for (const NamedTrace& named : traces) {
    const HloOps ops = hlo_ops(named.trace);
    out.self += ops.self;
    out.idle += ops.idle;
    out.peak_flops = std::max(out.peak_flops, ops.peak_flops);
    out.peak_bytes = std::max(out.peak_bytes, ops.peak_bytes);
    for (const HloOp& op : ops.ops) {
      const auto [at, fresh] = rows.try_emplace({op.program, op.name}, op);
      if (fresh) continue;
      add_sums(at->second, op);
      at->second.model_flops += op.model_flops;
    }
  }
  for (auto& [key, op] : rows) out.ops.push_back(std::move(op));
  return out;
}

}  // namespace

const std::vector<std::string>& hlo_ops_sort_keys() {
  static const std::vector<std::string> kKeys = {"self",        "total", "average",
                                                 "occurrences", "flops", "name"};
  return kKeys;
}

Document hlo_ops_view(RunTraces traces, const ReportRequest& request) {
  HloOps ops = collect(traces);
  sort_ops(ops.ops, request.sort);
  Block block;
  block.id = "hlo_ops";
  block.when_empty = "No operations of compiled programs (XLA) in this trace.";
  Table table;
  table.columns = {
      {.key = "rank", .header = "Rank", .type = CellType::Integer, .drop = 8},
      {.key = "program_id", .header = "Program", .cut = Cut::Middle, .drop = 6},
      {.key = "category", .header = "Category", .cut = Cut::Middle, .drop = 2},
      {.key = "hlo_op_name", .header = "Operation", .cut = Cut::Middle, .least = 20},
      {.key = "hlo_op_text", .header = "Text", .drop = 9},
      {.key = "framework_op", .header = "Framework op", .cut = Cut::Middle, .drop = 5},
      {.key = "occurrences", .header = "Occur.", .type = CellType::Integer},
      {.key = "total_ns", .header = "Total", .type = CellType::Duration, .drop = 1},
      {.key = "average_ns", .header = "Average", .type = CellType::Duration, .drop = 4},
      {.key = "self_ns", .header = "Self", .type = CellType::Duration},
      {.key = "average_self_ns", .header = "Avg self", .type = CellType::Duration, .drop = 7},
      {.key = "self_percent", .header = "Share", .type = CellType::Percent},
      {.key = "cumulative_percent", .header = "Cumul.", .type = CellType::Percent, .drop = 3},
      {.key = "model_gflops_per_s",
       .header = "Model GFLOP/s",
       .type = CellType::Real,
       .drop = 6,
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
       .drop = 6,
       .hide_zero = true},
      {.key = "bound_by", .header = "Bound by", .drop = 5},
      {.key = "source", .header = "Source", .cut = Cut::Middle, .drop = 8}};
  // As in XProf, shares are of the time from the first to the last work, idle time included.
  const Picos whole = ops.self + ops.idle;
  Picos sum = 0;
  std::vector<std::vector<Cell>> rows;
  for (const HloOp& op : ops.ops) {
    sum += op.self;
    const std::int64_t rank = static_cast<std::int64_t>(rows.size()) + 1;
    rows.push_back(
        {rank, text_cell(op.program), text_cell(op.category), text_cell(op.name),
         text_cell(op.text), text_cell(op.framework_op), count_cell(op.occurrences),
         picos_cell(static_cast<double>(op.total)), picos_cell(average(op.total, op.occurrences)),
         picos_cell(static_cast<double>(op.self)), picos_cell(average(op.self, op.occurrences)),
         share_cell(op.self, whole), share_cell(sum, whole),
         rate_cell(op.model_flops, op.total, 1e9), rate_cell(op.flops, op.total, 1e9),
         rate_cell(op.bytes, op.total, kGib), op.bytes > 0 ? Cell(op.flops / op.bytes) : Cell(),
         text_cell(bound_by(op.flops, op.bytes, ops.peak_flops, ops.peak_bytes)),
         text_cell(op.source)});
  }
  cut_rows(rows, request, kSensibleRows, block);
  table.rows = std::move(rows);
  if (!table.rows.empty() && ops.idle > 0) {
    block.notes.push_back(
        "Idle, between the first and the last operation of each device: " +
        format_duration(static_cast<double>(ops.idle) / 1000) + ", " +
        format_percent(100 * static_cast<double>(ops.idle) / static_cast<double>(whole)) + ".");
  }
  block.content = std::move(table);
  Document out;
  out.view = "hlo-ops";
  out.title = view_title("Operations of compiled programs", traces, "sums over all");
  out.csv_block = "hlo_ops";
  out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace sonde
