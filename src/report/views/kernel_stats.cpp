#include "report/views/kernel_stats.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "analysis/kernel_variants.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

std::vector<KernelVariant> collect(RunTraces traces) {
  using Key = std::tuple<std::string_view, std::string_view, std::int32_t, std::int32_t,
                         std::array<std::int32_t, 3>, std::array<std::int32_t, 3>>;
  std::map<Key, KernelVariant> rows;
  for (const NamedTrace& named : traces) {
    for (const KernelVariant& variant : kernel_variants(named.trace)) {
      const auto [at, fresh] =
          rows.try_emplace({variant.name, variant.op, variant.registers, variant.shared_memory,
                            variant.grid, variant.block},
                           variant);
      if (fresh) continue;
      KernelVariant& row = at->second;
      row.occurrences += variant.occurrences;
      row.total_ps += variant.total_ps;
      row.min_ps = std::min(row.min_ps, variant.min_ps);
      row.max_ps = std::max(row.max_ps, variant.max_ps);
    }
  }
  std::vector<KernelVariant> out;
  for (auto& [key, row] : rows) out.push_back(row);
  return out;
}

double mean_ps(const KernelVariant& row) {
  return static_cast<double>(row.total_ps) / static_cast<double>(row.occurrences);
}

void sort_rows(std::vector<KernelVariant>& rows, const std::string& key) {
  if (key == "occurrences") {
    sort_descending(rows, [](const KernelVariant& r) { return r.occurrences; });
  } else if (key == "average") {
    sort_descending(rows, mean_ps);
  } else if (key == "max") {
    sort_descending(rows, [](const KernelVariant& r) { return r.max_ps; });
  } else if (key != "name") {
    sort_descending(rows, [](const KernelVariant& r) { return r.total_ps; });
  }
}

Cell dimension_cell(const std::array<std::int32_t, 3>& size) {
  if (size[0] < 0) return Cell();
  return fmt::format("{},{},{}", size[0], size[1], size[2]);
}

Cell known_cell(std::int32_t number) {
  return number < 0 ? Cell() : Cell(static_cast<std::int64_t>(number));
}

Cell yes_cell(bool yes) { return std::string(yes ? "yes" : "no"); }

}  // namespace

const std::vector<std::string>& kernel_stats_sort_keys() {
  static const std::vector<std::string> kKeys = {"total", "average", "max", "occurrences", "name"};
  return kKeys;
}

Document kernel_stats_view(RunTraces traces, const ReportRequest& request) {
  std::vector<KernelVariant> rows = collect(traces);
  sort_rows(rows, request.sort);
  Block block;
  block.id = "kernel_stats";
  block.when_empty =
      "No kernels in this trace: nothing ran on a GPU, or GPU activity was not recorded.";
  cut_rows(rows, request, kSensibleRows, block);
  Table table;
  table.columns = {
      {.key = "rank", .header = "Rank", .type = CellType::Integer, .drop = 7},
      {.key = "kernel_name", .header = "Kernel", .cut = Cut::Middle, .least = 24},
      {.key = "registers_per_thread", .header = "Regs", .type = CellType::Integer, .drop = 5},
      {.key = "shared_memory_bytes", .header = "Shared", .type = CellType::Bytes, .drop = 5},
      {.key = "block_dim", .header = "Block", .drop = 4},
      {.key = "grid_dim", .header = "Grid", .drop = 4},
      {.key = "occupancy_percent", .header = "Occup.", .type = CellType::Percent, .drop = 3},
      {.key = "op_may_use_tensor_core", .header = "TC op", .drop = 6},
      {.key = "uses_tensor_core", .header = "TC", .drop = 6},
      {.key = "op_name", .header = "Operator", .cut = Cut::Middle, .drop = 2},
      {.key = "occurrences", .header = "Occur.", .type = CellType::Integer},
      {.key = "total_ns", .header = "Total", .type = CellType::Duration},
      {.key = "average_ns", .header = "Average", .type = CellType::Duration},
      {.key = "min_ns", .header = "Min", .type = CellType::Duration, .drop = 1},
      {.key = "max_ns", .header = "Max", .type = CellType::Duration, .drop = 1}};
  std::int64_t rank = 0;
  for (const KernelVariant& row : rows) {
    table.rows.push_back(
        {++rank, text_cell(row.name), known_cell(row.registers), known_cell(row.shared_memory),
         dimension_cell(row.block), dimension_cell(row.grid),
         row.occupancy < 0 ? Cell() : Cell(static_cast<double>(row.occupancy)),
         yes_cell(row.op_may_use_tensor_core), yes_cell(row.uses_tensor_core), text_cell(row.op),
         count_cell(row.occurrences), picos_cell(static_cast<double>(row.total_ps)),
         picos_cell(mean_ps(row)), picos_cell(static_cast<double>(row.min_ps)),
         picos_cell(static_cast<double>(row.max_ps))});
  }
  block.content = std::move(table);
  Document out;
  out.view = "kernel-stats";
  out.title = view_title("Kernels by launch", traces, "sums over all");
  out.csv_block = "kernel_stats";
  out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace sonde
