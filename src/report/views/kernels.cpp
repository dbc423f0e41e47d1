#include "report/views/kernels.hpp"

#include <algorithm>
#include <map>

#include "analysis/kernels.hpp"
#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

struct Row {
  std::string_view name;
  std::uint64_t calls = 0;
  Nanos total = 0;
  Nanos min = 0;
  Nanos max = 0;
  // Sums weighted by time, over the time for which the file tells them.
  double blocks_per_sm = 0;
  double blocks_time = 0;
  double occupancy = 0;
  double occupancy_time = 0;

  double mean() const { return static_cast<double>(total) / static_cast<double>(calls); }
};

// A trace may have times for everything but its kernels, of which it knows counters only.
bool timed(const Trace& trace, const std::vector<KernelStats>& kernels) {
  return has_times(trace) &&
         (kernels.empty() || std::any_of(kernels.begin(), kernels.end(),
                                         [](const KernelStats& one) { return one.total > 0; }));
}

std::vector<Row> collect(RunTraces traces, bool& any_timed) {
  std::map<std::string_view, Row> rows;
  std::vector<std::vector<KernelStats>> kernels;
  any_timed = false;
  for (const NamedTrace& named : traces) {
    kernels.push_back(kernel_stats(named.trace));
    any_timed = any_timed || timed(named.trace, kernels.back());
  }
  auto next = kernels.begin();
  for (const NamedTrace& named : traces) {
    const std::vector<KernelStats>& own = *next++;
    // Kernels without a length would spoil the means of those that have one.
    if (any_timed && !timed(named.trace, own)) continue;
    for (const KernelStats& stats : own) {
      Row& row = rows[named.trace.text(stats.name)];
      row.name = named.trace.text(stats.name);
      row.min = row.calls ? std::min(row.min, stats.min) : stats.min;
      row.max = std::max(row.max, stats.max);
      row.calls += stats.calls;
      row.total += stats.total;
      const auto time = static_cast<double>(stats.total);
      if (stats.blocks_per_sm) {
        row.blocks_per_sm += *stats.blocks_per_sm * time;
        row.blocks_time += time;
      }
      if (stats.occupancy) {
        row.occupancy += *stats.occupancy * time;
        row.occupancy_time += time;
      }
    }
  }
  std::vector<Row> out;
  out.reserve(rows.size());
  for (auto& [name, row] : rows) out.push_back(row);
  return out;
}

// Without times, those that ran most often come first.
void sort_rows(std::vector<Row>& rows, const std::string& key, bool times) {
  if (key == "calls" || (!times && key != "name")) {
    sort_descending(rows, [](const Row& r) { return r.calls; });
  } else if (key == "mean") {
    sort_descending(rows, [](const Row& r) { return r.mean(); });
  } else if (key == "max") {
    sort_descending(rows, [](const Row& r) { return r.max; });
  } else if (key != "name") {
    sort_descending(rows, [](const Row& r) { return r.total; });
  }
}

Cell weighted(double sum, double time) { return time > 0 ? Cell(sum / time) : Cell(); }

}  // namespace

const std::vector<std::string>& kernels_sort_keys() {
  static const std::vector<std::string> kKeys = {"total", "mean", "max", "calls", "name"};
  return kKeys;
}

Block kernels_block(RunTraces traces, const ReportRequest& request, std::size_t sensible,
                    bool brief) {
  bool times = true;
  std::vector<Row> rows = collect(traces, times);
  Nanos total = 0;
  for (const Row& row : rows) total += row.total;
  sort_rows(rows, request.sort, times);

  Block out;
  out.id = "kernels";
  out.when_empty =
      "No kernels in this trace: nothing ran on a GPU, or GPU activity was not recorded.";
  cut_rows(rows, request, sensible, out);
  Table table;
  if (!times && !rows.empty()) {
    out.notes.emplace_back(
        "The kernels of this trace have no times: how often they ran is all it tells.");
    table.columns = {{.key = "name", .header = "Kernel", .cut = Cut::Middle, .least = 36},
                     {.key = "calls", .header = "Calls", .type = CellType::Integer}};
    for (const Row& row : rows) table.rows.push_back({text_cell(row.name), count_cell(row.calls)});
    out.content = std::move(table);
    return out;
  }
  table.columns = {{.key = "name", .header = "Kernel", .cut = Cut::Middle, .least = 36},
                   {.key = "calls", .header = "Calls", .type = CellType::Integer},
                   {.key = "total_ns", .header = "Total", .type = CellType::Duration},
                   {.key = "total_percent", .header = "Share", .type = CellType::Percent},
                   {.key = "mean_ns", .header = "Mean", .type = CellType::Duration}};
  if (!brief) {
    table.columns.insert(table.columns.end(),
                         {{.key = "min_ns", .header = "Min", .type = CellType::Duration, .drop = 1},
                          {.key = "max_ns", .header = "Max", .type = CellType::Duration, .drop = 1},
                          {.key = "blocks_per_sm",
                           .header = "Blocks/SM",
                           .type = CellType::Real,
                           .drop = 3,
                           .hide_zero = true},
                          {.key = "occupancy_percent",
                           .header = "Occup.",
                           .type = CellType::Percent,
                           .drop = 2,
                           .hide_zero = true}});
  }
  for (const Row& row : rows) {
    std::vector<Cell> cells = {text_cell(row.name), count_cell(row.calls), time_cell(row.total),
                               share_cell(row.total, total), time_cell(row.mean())};
    if (!brief) {
      cells.insert(cells.end(), {time_cell(row.min), time_cell(row.max),
                                 weighted(row.blocks_per_sm, row.blocks_time),
                                 weighted(row.occupancy, row.occupancy_time)});
    }
    table.rows.push_back(std::move(cells));
  }
  out.content = std::move(table);
  return out;
}

Document kernels_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "kernels";
  out.title = view_title("Kernels", traces, "sums over all");
  out.csv_block = "kernels";
  out.blocks.push_back(kernels_block(traces, request, kSensibleRows, false));
  return out;
}

}  // namespace sonde
