#include "report/views/steps.hpp"

#include <array>

#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 50;

constexpr std::array<std::string_view, kStepRoleCount> kTitles = {
    "Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"};
constexpr std::array<std::string_view, kStepRoleCount> kKeys = {
    "kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_exec", "other"};

// On a narrow terminal the parts that matter least go first.
constexpr std::array<int, kStepRoleCount> kDrop = {1, 6, 8, 3, 4, 2, 5, 7};

struct Row {
  std::string trace;
  Step step;
};

void sort_rows(std::vector<Row>& rows, const std::string& key) {
  if (key == "total") sort_descending(rows, [](const Row& r) { return r.step.total(); });
  for (std::size_t i = 0; i < kStepRoleCount; ++i) {
    if (key != kKeys[i]) continue;
    sort_descending(rows, [&](const Row& r) { return r.step.cost[static_cast<StepRole>(i)]; });
  }
}

Facts step_facts(const std::vector<Row>& rows, bool marked) {
  if (rows.empty()) return {};
  double sum = 0;
  Nanos low = rows.front().step.total();
  Nanos high = low;
  for (const Row& row : rows) {
    sum += static_cast<double>(row.step.total());
    low = std::min(low, row.step.total());
    high = std::max(high, row.step.total());
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  if (!marked) {
    return {{"average_ns", "Recording", time_cell(sum / static_cast<double>(count)),
             CellType::Duration, ""}};
  }
  return {{"steps", "Steps", count, CellType::Integer, ""},
          {"average_ns", "Average", time_cell(sum / static_cast<double>(count)), CellType::Duration,
           ""},
          {"fastest_ns", "Fastest", low, CellType::Duration, ""},
          {"slowest_ns", "Slowest", high, CellType::Duration, ""}};
}

}  // namespace

std::string_view role_title(StepRole role) { return kTitles[static_cast<std::size_t>(role)]; }
std::string_view role_key(StepRole role) { return kKeys[static_cast<std::size_t>(role)]; }

std::string no_steps_note(const Trace& trace) {
  std::string out = "No steps are marked in this trace: the whole recording counts as one.";
  if (trace.meta().format == "kineto") {
    out += " Call profiler.step() after each training step to tell them apart.";
  }
  return out;
}

const std::vector<std::string>& steps_sort_keys() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> keys = {"step", "total"};
    keys.insert(keys.end(), kKeys.begin(), kKeys.end());
    return keys;
  }();
  return kAll;
}

Document steps_view(RunTraces traces, const ReportRequest& request) {
  std::vector<Row> rows;
  Block block;
  block.id = "steps";
  block.when_empty = "No operators and no steps in this trace, so there is nothing to break down.";
  bool marked = false;
  std::size_t dropped = 0;
  for (const NamedTrace& named : traces) {
    if (!has_times(named.trace)) {
      block.when_empty =
          "This trace has no times: it tells in which order things ran, not how long they took.";
      continue;
    }
    const OpTree tree(named.trace);
    const StepBreakdown breakdown = break_down_steps(named.trace, tree);
    marked = marked || breakdown.has_steps;
    dropped += breakdown.dropped;
    for (const Step& step : breakdown.steps) {
      if (step.total() > 0) rows.push_back({trace_label(named), step});
    }
  }
  Facts facts = step_facts(rows, marked);
  if (!rows.empty() && !marked) {
    block.notes.push_back(no_steps_note(traces.front().trace));
  }
  if (dropped) {
    block.notes.push_back(format_plural(static_cast<std::int64_t>(dropped), "step", "steps") +
                          " at the end left out: the recording ended before their GPU work.");
  }
  sort_rows(rows, request.sort);
  cut_rows(rows, request, kSensibleRows, block);

  Table table;
  const bool several = traces.size() > 1;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace"});
  table.columns.insert(
      table.columns.end(),
      {{.key = "step", .header = "Step"},
       {.key = "start_ns", .header = "Start", .type = CellType::Duration, .drop = 9},
       {.key = "total_ns", .header = "Total", .type = CellType::Duration}});
  for (std::size_t i = 0; i < kStepRoleCount; ++i) {
    std::string header(kTitles[i]);
    if (header == "Communication") header = "Comm.";
    if (header == "DataLoader") header = "DataLoad";
    table.columns.push_back({.key = std::string(kKeys[i]) + "_ns",
                             .header = std::move(header),
                             .type = CellType::Duration,
                             .drop = kDrop[i],
                             .hide_zero = true});
  }
  for (const Row& row : rows) {
    std::vector<Cell> cells;
    if (several) cells.push_back(row.trace);
    cells.insert(cells.end(), {row.step.name, row.step.span.start, row.step.total()});
    for (std::size_t i = 0; i < kStepRoleCount; ++i) {
      cells.push_back(row.step.cost[static_cast<StepRole>(i)]);
    }
    table.rows.push_back(std::move(cells));
  }
  block.content = std::move(table);

  Document out;
  out.view = "steps";
  out.title = view_title("Steps", traces, "");
  out.csv_block = "steps";
  if (!facts.empty()) out.blocks.push_back({"average", "", std::move(facts), "", {}});
  out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace sonde
