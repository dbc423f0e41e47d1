// Where the time and the memory of a summary's traces went.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice_wording.hpp"
#include "analysis/memory_profile.hpp"
#include "report/views/rows.hpp"
#include "report/views/steps.hpp"
#include "report/views/summary_parts.hpp"

namespace sonde {
namespace {

// Mean over the steps of all traces.
struct MeanStep {
  ByRole<double> cost{};
  double total = 0;
  std::size_t steps = 0;
  bool marked = true;
  bool device = false;
};

MeanStep mean_step(const std::vector<TraceSummary>& all) {
  MeanStep out;
  for (const TraceSummary& one : all) {
    if (!one.timed) continue;
    out.marked = out.marked && one.steps.has_steps;
    out.device = out.device || one.steps.has_device;
    for (const Step& step : one.steps.steps) {
      for (std::size_t i = 0; i < kStepRoleCount; ++i) {
        const auto role = static_cast<StepRole>(i);
        out.cost[role] += static_cast<double>(step.cost[role]);
      }
      out.total += static_cast<double>(step.total());
      ++out.steps;
    }
  }
  if (out.steps == 0) return out;
  for (std::size_t i = 0; i < kStepRoleCount; ++i) {
    out.cost[static_cast<StepRole>(i)] /= static_cast<double>(out.steps);
  }
  out.total /= static_cast<double>(out.steps);
  return out;
}

}  // namespace

Block breakdown_block(const std::vector<TraceSummary>& all, const ReportRequest& request) {
  const MeanStep mean = mean_step(all);
  Block out;
  out.id = "average_step";
  Table table;
  table.columns = {{.key = "category", .header = "Spent on"},
                   {.key = "time_ns", .header = "Time", .type = CellType::Duration},
                   {.key = "percent", .header = "Share", .type = CellType::Percent, .bar = true}};
  if (mean.total > 0) {
    out.title = fmt::format("{}: {}", mean.marked ? "Average step" : "Whole recording",
                            format_duration(mean.total));
    for (std::size_t i = 0; i < kStepRoleCount; ++i) {
      const auto role = static_cast<StepRole>(i);
      // Programs get every part that there could be, people those that there are.
      const bool possible = mean.device || role > StepRole::Runtime;
      if (mean.cost[role] <= 0 && (!request.for_programs() || !possible)) continue;
      table.rows.push_back({text_cell(role_title(role)), time_cell(mean.cost[role]),
                            share_cell(mean.cost[role], mean.total)});
    }
    if (!mean.marked) {
      out.notes.emplace_back(no_steps_note(all.front().trace()));
    }
  } else if (std::none_of(all.begin(), all.end(),
                          [](const TraceSummary& one) { return one.timed; })) {
    out.title = "Average step";
    out.when_empty =
        "This trace has no times: it tells in which order things ran, not how long they took.";
  } else {
    out.title = "Average step";
    out.when_empty =
        "Neither steps nor operators in this trace, so there is nothing to break down.";
  }
  out.content = std::move(table);
  return out;
}

namespace {

Cell mean_utilization(const TraceSummary& one) {
  if (one.gpus.empty() || !one.timed) return Cell();
  double sum = 0;
  for (const GpuUtilization& gpu : one.gpus) sum += gpu.utilization;
  return 100 * sum / static_cast<double>(one.gpus.size());
}

}  // namespace

Block ranks_block(const std::vector<TraceSummary>& all) {
  Block out;
  out.id = "ranks";
  const bool ranked = std::any_of(
      all.begin(), all.end(), [](const TraceSummary& one) { return one.trace().meta().rank >= 0; });
  const bool stepped = std::all_of(all.begin(), all.end(),
                                   [](const TraceSummary& one) { return one.steps.has_steps; });
  out.title = ranked ? "Ranks" : "Traces";
  Table table;
  table.columns = {
      {.key = "trace", .header = "Trace", .cut = Cut::Middle},
      {.key = "steps", .header = "Steps", .type = CellType::Integer, .drop = 3},
      {.key = "average_step_ns", .header = "Avg. step", .type = CellType::Duration},
      {.key = "kernel_percent", .header = "Kernel", .type = CellType::Percent},
      {.key = "communication_percent", .header = "Comm.", .type = CellType::Percent},
      {.key = "exposed_percent", .header = "Not overlapped", .type = CellType::Percent, .drop = 2},
      {.key = "data_loader_percent", .header = "DataLoad", .type = CellType::Percent, .drop = 1},
      {.key = "utilization_percent", .header = "GPU util.", .type = CellType::Percent}};
  const TraceSummary* slowest = nullptr;
  double sum = 0;
  std::size_t count = 0;
  for (const TraceSummary& one : all) {
    const StepBreakdown& steps = one.steps;
    const double total = one.timed ? steps.average_total : 0;
    Nanos communication = 0;
    Nanos exposed = 0;
    Nanos time = 0;
    for (const Step& step : steps.steps) {
      if (!one.timed) break;
      communication += step.communication;
      exposed += step.communication - step.overlap;
      time += step.total();
    }
    table.rows.push_back(
        {trace_label(*one.named), count_cell(steps.steps.size()),
         total > 0 ? time_cell(total) : Cell(), share_cell(steps.average[StepRole::Kernel], total),
         share_cell(communication, time), share_cell(exposed, time),
         share_cell(steps.average[StepRole::DataLoader], total), mean_utilization(one)});
    if (total <= 0) continue;
    sum += total;
    ++count;
    if (!slowest || total > slowest->steps.average_total) slowest = &one;
  }
  const double mean = count ? sum / static_cast<double>(count) : 0;
  // Recordings without steps need not be about the same thing.
  if ((ranked || stepped) && slowest && count > 1 && slowest->steps.average_total > mean) {
    out.notes.push_back(fmt::format(
        "Slowest: {} with {} a step, {} above the mean of {}.", trace_label(*slowest->named),
        format_duration(slowest->steps.average_total),
        format_percent(100 * (slowest->steps.average_total / mean - 1)), format_duration(mean)));
  }
  out.content = std::move(table);
  return out;
}

Block gpu_block(const std::vector<TraceSummary>& all) {
  Block out;
  out.id = "gpus";
  const std::string device(advice::device_word(all.front().trace()));
  out.title = device + " utilisation";
  const bool untimed = std::any_of(all.begin(), all.end(), [](const TraceSummary& one) {
    return !one.timed && !one.gpus.empty();
  });
  out.when_empty = untimed ? "Unknown: the work of the " + device + " has no times."
                           : "No " + device + " work in this trace.";
  Table table;
  const bool several = all.size() > 1;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace"});
  table.columns.insert(
      table.columns.end(),
      {{.key = "device", .header = device, .type = CellType::Integer},
       {.key = "sm_efficiency_percent",
        .header = "SM efficiency",
        .type = CellType::Percent,
        .hide_zero = true},
       {.key = "occupancy_percent",
        .header = "Occupancy",
        .type = CellType::Percent,
        .hide_zero = true},
       {.key = "utilization_percent", .header = "Busy", .type = CellType::Percent, .bar = true}});
  for (const TraceSummary& one : all) {
    if (!one.timed) continue;
    for (const GpuUtilization& gpu : one.gpus) {
      std::vector<Cell> cells;
      if (several) cells.emplace_back(trace_label(*one.named));
      cells.insert(cells.end(),
                   {static_cast<std::int64_t>(gpu.device),
                    gpu.sm_efficiency > 0 ? Cell(100 * gpu.sm_efficiency) : Cell(),
                    gpu.occupancy > 0 ? Cell(gpu.occupancy) : Cell(), 100 * gpu.utilization});
      table.rows.push_back(std::move(cells));
    }
  }
  out.content = std::move(table);
  return out;
}

Block memory_block(const std::vector<TraceSummary>& all) {
  Block out;
  out.id = "memory";
  out.title = "Memory";
  out.when_empty = "No allocations in this trace.";
  Table table;
  const bool several = all.size() > 1;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace", .cut = Cut::Middle});
  table.columns.insert(table.columns.end(),
                       {{.key = "allocator", .header = "Allocator", .cut = Cut::Middle},
                        {.key = "allocations", .header = "Allocs", .type = CellType::Integer},
                        {.key = "frees", .header = "Frees", .type = CellType::Integer},
                        {.key = "peak_bytes", .header = "Peak", .type = CellType::Bytes},
                        {.key = "peak_time_ns", .header = "At", .type = CellType::Duration},
                        {.key = "last_bytes", .header = "At the end", .type = CellType::Bytes}});
  for (const TraceSummary& one : all) {
    for (const AllocatorProfile& profile : memory_profile(one.trace())) {
      std::vector<Cell> cells;
      if (several) cells.emplace_back(trace_label(*one.named));
      cells.insert(cells.end(), {text_cell(profile.name), count_cell(profile.allocations),
                                 count_cell(profile.frees), profile.peak.in_use(),
                                 time_cell(profile.peak.time), profile.points.back().in_use()});
      table.rows.push_back(std::move(cells));
    }
  }
  if (!table.empty())
    out.notes.emplace_back("What it was used for: sonde report --view memory-profile");
  out.content = std::move(table);
  return out;
}

}  // namespace sonde
