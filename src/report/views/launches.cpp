#include "report/views/launches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/launches.hpp"
#include "analysis/steps.hpp"
#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;
constexpr std::size_t kQueueParts = 20;

struct CallRow {
  const NamedTrace* named;
  LaunchStats stats;
};
struct QueueRow {
  const NamedTrace* named;
  QueuePart part;
};
struct StepRow {
  const NamedTrace* named;
  std::string step;
  std::uint64_t work = 0;
  QueuePart part;
};

// A table whose rows say of which trace they are, where there are several.
Table make_table(bool several, std::vector<Column> columns) {
  Table out;
  if (several) out.columns.push_back({.key = "trace", .header = "Trace"});
  out.columns.insert(out.columns.end(), columns.begin(), columns.end());
  return out;
}

void add_row(Table& table, bool several, const NamedTrace& named, std::vector<Cell> cells) {
  if (several) cells.insert(cells.begin(), text_cell(trace_label(named)));
  table.rows.push_back(std::move(cells));
}

Block calls_block(std::vector<CallRow> rows, const ReportRequest& request, bool several) {
  Block out;
  out.id = "calls";
  out.title = "Calls that launch";
  out.when_empty = "No device work in this trace is linked to the call that launched it.";
  cut_rows(rows, request, kSensibleRows, out);
  Table table = make_table(
      several, {{.key = "call", .header = "Call", .cut = Cut::Middle, .least = 20},
                {.key = "calls", .header = "Calls", .type = CellType::Integer},
                {.key = "work", .header = "Work", .type = CellType::Integer},
                {.key = "mean_call_ns", .header = "Mean call", .type = CellType::Duration},
                {.key = "mean_delay_ns", .header = "Mean delay", .type = CellType::Duration},
                {.key = "longest_delay_ns", .header = "Longest", .type = CellType::Duration}});
  for (const CallRow& row : rows) {
    add_row(table, several, *row.named,
            {text_cell(row.named->trace.text(row.stats.call)), count_cell(row.stats.calls),
             count_cell(row.stats.work), time_cell(row.stats.mean_call()),
             time_cell(row.stats.mean_delay()), time_cell(row.stats.longest_delay)});
  }
  if (!table.rows.empty()) {
    out.notes.push_back(
        "Work: kernels, copies and sets. Delay: from the start of the call to the "
        "start of its work on the device.");
  }
  out.content = std::move(table);
  return out;
}

Block queue_block(const std::vector<QueueRow>& rows, std::vector<std::string> notes, bool several) {
  Block out;
  out.id = "queue";
  out.title = "Work asked for and not finished";
  out.notes = std::move(notes);
  Table table =
      make_table(several, {{.key = "start_ns", .header = "From", .type = CellType::Duration},
                           {.key = "end_ns", .header = "To", .type = CellType::Duration},
                           {.key = "mean", .header = "Mean", .type = CellType::Real},
                           {.key = "longest", .header = "Most", .type = CellType::Integer}});
  for (const QueueRow& row : rows) {
    add_row(table, several, *row.named,
            {time_cell(row.part.start), time_cell(row.part.end), Cell(row.part.mean),
             Cell(row.part.longest)});
  }
  out.content = std::move(table);
  return out;
}

Block steps_block(std::vector<StepRow> rows, const ReportRequest& request, bool several) {
  Block out;
  out.id = "steps";
  out.title = "By step";
  out.when_empty = "No steps are marked in this trace.";
  cut_rows(rows, request, kSensibleRows, out);
  Table table =
      make_table(several, {{.key = "step", .header = "Step"},
                           {.key = "work", .header = "Work", .type = CellType::Integer},
                           {.key = "mean_queue", .header = "Mean queue", .type = CellType::Real},
                           {.key = "longest_queue", .header = "Most", .type = CellType::Integer}});
  for (const StepRow& row : rows) {
    add_row(
        table, several, *row.named,
        {text_cell(row.step), count_cell(row.work), Cell(row.part.mean), Cell(row.part.longest)});
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

Document launches_view(RunTraces traces, const ReportRequest& request) {
  std::vector<CallRow> calls;
  std::vector<QueueRow> parts;
  std::vector<StepRow> steps;
  std::vector<std::string> notes;
  const auto launches = [](const NamedTrace& named) {
    return named.trace.launch_to_device().size() > 0 && has_times(named.trace);
  };
  const bool several = std::count_if(traces.begin(), traces.end(), launches) > 1;
  for (const NamedTrace& named : traces) {
    if (!launches(named)) continue;
    for (const LaunchStats& stats : launch_stats(named.trace)) calls.push_back({&named, stats});
    const LaunchQueue queue = launch_queue(named.trace);
    for (const QueuePart& part : queue_parts(queue, queue.begin, queue.end, kQueueParts)) {
      parts.push_back({&named, part});
    }
    notes.push_back(
        fmt::format("{}at most {} at once, {:.1f} on average; nothing for {:.1f}% of the time",
                    several ? trace_label(named) + ": " : std::string(), queue.longest, queue.mean,
                    100 * queue.empty));
    const StepBreakdown breakdown = break_down_steps(named.trace, OpTree(named.trace));
    if (!breakdown.has_steps) continue;
    for (const Step& step : breakdown.steps) {
      const std::vector<QueuePart> part = queue_parts(queue, step.span.start, step.span.end, 1);
      steps.push_back({&named, step.name, step.device_work, part.empty() ? QueuePart{} : part[0]});
    }
  }
  Document out;
  out.view = "launches";
  out.title = view_title("Launches", traces, "each by itself");
  out.csv_block = "calls";
  out.blocks.push_back(calls_block(std::move(calls), request, several));
  if (!parts.empty()) {
    out.blocks.push_back(queue_block(parts, std::move(notes), several));
    out.blocks.push_back(steps_block(std::move(steps), request, several));
  }
  return out;
}

}  // namespace sonde
