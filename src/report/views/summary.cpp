#include "report/views/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/advice.hpp"
#include "analysis/devices.hpp"
#include "analysis/gpu_utilization.hpp"
#include "analysis/hot_slices.hpp"
#include "analysis/steps.hpp"
#include "analysis/system_use.hpp"
#include "analysis/trace_facts.hpp"
#include "report/views/kernels.hpp"
#include "report/views/operators.hpp"
#include "report/views/profile_summary.hpp"
#include "report/views/rows.hpp"
#include "report/views/steps.hpp"
#include "report/views/system.hpp"

namespace sonde {
namespace {

constexpr std::size_t kTopRows = 8;

// One trace, looked at once for all parts of the summary.
struct TraceSummary {
  const NamedTrace* named;
  TraceFacts facts;
  StepBreakdown steps;
  std::vector<GpuUtilization> gpus;
  std::vector<Advice> advice;

  const Trace& trace() const { return named->trace; }
};

TraceSummary summarise(const NamedTrace& named) {
  TraceSummary out{&named, trace_facts(named.trace), {}, {}, {}};
  const OpTree tree(named.trace);
  out.steps = break_down_steps(named.trace, tree);
  out.gpus = gpu_utilization(named.trace, out.steps.window());
  if (out.steps.average_total > 0) {
    out.advice = give_advice({named.trace, tree, out.steps, out.gpus});
  }
  return out;
}

// The different values of `get`, joined by ", ".
template <class Get>
std::string join_different(const std::vector<TraceSummary>& all, Get get) {
  std::vector<std::string> seen;
  for (const TraceSummary& one : all) {
    std::string text = get(one);
    if (!text.empty() && std::find(seen.begin(), seen.end(), text) == seen.end()) {
      seen.push_back(std::move(text));
    }
  }
  std::string out;
  for (const std::string& text : seen) out += (out.empty() ? "" : ", ") + text;
  return out;
}

std::string device_text(const Device& device) {
  std::string out = device.name.empty() ? "unnamed device" : device.name;
  std::string details;
  if (device.memory_bytes > 0) details = format_bytes(static_cast<double>(device.memory_bytes));
  if (device.multiprocessors > 0) {
    details += fmt::format("{}{} SMs", details.empty() ? "" : ", ", device.multiprocessors);
  }
  if (device.compute_major > 0) {
    details += fmt::format("{}compute {}.{}", details.empty() ? "" : ", ", device.compute_major,
                           device.compute_minor);
  }
  return details.empty() ? out : out + " (" + details + ")";
}

// "2 x Tesla V100 (…)": a machine's devices are often alike. Every rank describes all of them.
std::string devices_text(const TraceSummary& one) {
  std::vector<std::pair<std::string, int>> alike;
  for (const Device& device : one.trace().meta().devices) {
    const std::string text = device_text(device);
    const auto at = std::find_if(alike.begin(), alike.end(),
                                 [&](const auto& entry) { return entry.first == text; });
    if (at == alike.end()) {
      alike.emplace_back(text, 1);
    } else {
      ++at->second;
    }
  }
  std::string out;
  for (const auto& [text, count] : alike) {
    out += out.empty() ? "" : ", ";
    if (count > 1) out += fmt::format("{} x ", count);
    out += text;
  }
  if (!out.empty()) return out;
  // Old files do not describe the devices whose work they hold.
  if (one.gpus.empty()) return "no accelerator";
  return format_plural(static_cast<std::int64_t>(one.gpus.size()), "GPU", "GPUs") +
         ", not described in the file";
}

std::string rank_text(const std::vector<TraceSummary>& all) {
  std::set<std::int64_t> ranks;
  std::int64_t world = -1;
  for (const TraceSummary& one : all) {
    if (one.trace().meta().rank >= 0) ranks.insert(one.trace().meta().rank);
    world = std::max(world, one.trace().meta().world_size);
  }
  if (ranks.empty()) return {};
  std::string out = ranks.size() == 1 ? fmt::format("rank {}", *ranks.begin())
                                      : fmt::format("{} ranks", ranks.size());
  if (world > 0) out += fmt::format(" of {}", world);
  const std::string backend =
      join_different(all, [](const TraceSummary& one) { return one.trace().meta().backend; });
  return backend.empty() ? out : out + " (" + backend + ")";
}

std::string step_text(const TraceSummary& one) {
  if (!one.steps.has_steps || one.steps.steps.empty()) return "none marked";
  const auto& steps = one.steps.steps;
  const auto count = static_cast<std::int64_t>(steps.size());
  std::string out = format_count(count);
  out += steps.size() == 1 ? fmt::format(" (step {})", steps.front().name)
                           : fmt::format(" ({} to {})", steps.front().name, steps.back().name);
  if (one.steps.dropped) {
    out += fmt::format(", and {} cut off by the end of the recording", one.steps.dropped);
  }
  return out;
}

std::string events_text(std::uint64_t slices, std::uint64_t threads, std::uint64_t streams) {
  if (slices == 0) return "none: there is nothing with a duration in this trace";
  std::string out =
      fmt::format("{} on {}", format_count(static_cast<std::int64_t>(slices)),
                  format_plural(static_cast<std::int64_t>(threads), "thread", "threads"));
  if (streams == 0) return out;
  return out + " and " +
         format_plural(static_cast<std::int64_t>(streams), "GPU stream", "GPU streams");
}

Block trace_block(const std::vector<TraceSummary>& all) {
  const TraceSummary& first = all.front();
  Facts facts;
  const std::string producer = join_different(all, [](const TraceSummary& one) {
    const TraceMeta& meta = one.trace().meta();
    std::string name = meta.producer.empty() ? meta.format : meta.producer;
    return meta.version.empty() ? name : name + ", " + meta.version;
  });
  facts.push_back(
      {"producer", "Producer", producer.empty() ? "unknown" : producer, CellType::Text, ""});
  const std::string devices = join_different(all, devices_text);
  facts.push_back({"devices", "Devices", devices, CellType::Text, ""});
  if (const std::string ranks = rank_text(all); !ranks.empty()) {
    facts.push_back({"ranks", "Ranks", ranks, CellType::Text, ""});
  }
  Nanos span = 0;
  std::uint64_t slices = 0;
  std::uint64_t threads = 0;
  std::uint64_t streams = 0;
  for (const TraceSummary& one : all) {
    span = std::max(span, one.trace().span_end());
    slices += one.trace().slice_count();
    threads += one.facts.threads;
    streams += one.facts.streams;
  }
  std::string shown = format_duration(static_cast<double>(span));
  const TraceMeta& meta = first.trace().meta();
  if (meta.wall_clock) shown += ", from " + format_utc(meta.base_time + meta.origin);
  facts.push_back({"span_ns", "Span", span, CellType::Duration, shown});
  facts.push_back({"steps", "Steps",
                   static_cast<std::int64_t>(first.steps.has_steps ? first.steps.steps.size() : 0),
                   CellType::Integer, join_different(all, step_text)});
  facts.push_back({"slices", "Events", count_cell(slices), CellType::Integer,
                   events_text(slices, threads, streams)});
  return {"trace", "Trace", std::move(facts), "", {}};
}

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

Block breakdown_block(const std::vector<TraceSummary>& all) {
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
      // Without a device these could only be 0.
      if (!mean.device && role <= StepRole::Runtime) continue;
      table.rows.push_back({text_cell(role_title(role)), time_cell(mean.cost[role]),
                            share_cell(mean.cost[role], mean.total)});
    }
    if (!mean.marked) {
      out.notes.emplace_back(no_steps_note(all.front().trace()));
    }
  } else {
    out.title = "Average step";
    out.when_empty =
        "Neither steps nor operators in this trace, so there is nothing to break down.";
  }
  out.content = std::move(table);
  return out;
}

Cell mean_utilization(const TraceSummary& one) {
  if (one.gpus.empty()) return Cell();
  double sum = 0;
  for (const GpuUtilization& gpu : one.gpus) sum += gpu.utilization;
  return 100 * sum / static_cast<double>(one.gpus.size());
}

Block ranks_block(const std::vector<TraceSummary>& all) {
  Block out;
  out.id = "ranks";
  out.title = "Ranks";
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
    const double total = steps.average_total;
    Nanos communication = 0;
    Nanos exposed = 0;
    Nanos time = 0;
    for (const Step& step : steps.steps) {
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
  if (slowest && count > 1 && slowest->steps.average_total > mean) {
    out.notes.push_back(fmt::format(
        "Slowest: {} with {} a step, {} above the mean of {}.", trace_label(*slowest->named),
        format_duration(slowest->steps.average_total),
        format_percent(100 * (slowest->steps.average_total / mean - 1)), format_duration(mean)));
  }
  out.content = std::move(table);
  return out;
}

GpuTimesById gpu_times(const std::vector<TraceSummary>& all) {
  GpuTimesById out;
  for (const TraceSummary& one : all) {
    add_gpu_times(one.trace(), device_use(one.trace(), one.steps.window()), out);
  }
  return out;
}

Block gpu_block(const std::vector<TraceSummary>& all) {
  Block out;
  out.id = "gpus";
  out.title = "GPU utilisation";
  out.when_empty = "No GPU work in this trace.";
  Table table;
  const bool several = all.size() > 1;
  if (several) table.columns.push_back({.key = "trace", .header = "Trace"});
  table.columns.insert(
      table.columns.end(),
      {{.key = "device", .header = "GPU", .type = CellType::Integer},
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

// For traces without operators: whatever they hold, by name.
Block slices_block(const std::vector<TraceSummary>& all, const ReportRequest& request) {
  Block out;
  out.id = "slices";
  out.title = "Top events";
  out.when_empty = "No events with a duration in this trace.";
  Table table;
  table.columns = {{.key = "name", .header = "Event", .cut = Cut::Middle},
                   {.key = "calls", .header = "Count", .type = CellType::Integer},
                   {.key = "self_ns", .header = "Self", .type = CellType::Duration},
                   {.key = "total_ns", .header = "Total", .type = CellType::Duration}};
  for (const TraceSummary& one : all) {
    for (const NameStats& stats : hot_slices(one.trace())) {
      table.rows.push_back({text_cell(one.trace().text(stats.name)), count_cell(stats.calls),
                            stats.self, stats.total});
    }
  }
  if (all.size() > 1) {
    sort_descending(table.rows, [](const std::vector<Cell>& row) { return row[2]; });
  }
  cut_rows(table.rows, request, kTopRows, out);
  out.content = std::move(table);
  return out;
}

Block advice_block(const std::vector<TraceSummary>& all) {
  Block out;
  out.id = "advice";
  out.title = "Advice";
  out.when_empty = "Nothing stands out.";
  if (all.size() == 1) {
    out.content = all.front().advice;
    return out;
  }
  std::vector<std::vector<Advice>> by_rank;
  std::vector<std::string> names;
  for (const TraceSummary& one : all) {
    by_rank.push_back(one.advice);
    names.push_back(trace_label(*one.named));
  }
  out.content = merge_advice(by_rank, names);
  return out;
}

}  // namespace

Document summary_view(RunTraces traces, const ReportRequest& request) {
  std::vector<TraceSummary> all;
  for (const NamedTrace& named : traces) {
    if (!is_system_trace(named.trace)) all.push_back(summarise(named));
  }

  // The lists of the summary are short in every format; the views have all rows.
  ReportRequest top = request;
  top.sort.clear();
  top.group_by.clear();
  if (!top.limit) top.limit = static_cast<std::int64_t>(kTopRows);

  Document out;
  out.view = "summary";
  out.title = view_title("Summary", traces, "");
  if (all.empty()) {
    // The program records nothing itself: all that is known was seen from outside.
    out.blocks = system_blocks(traces, {}, top);
    return out;
  }
  if (is_profile_run(traces)) {
    out.blocks = profile_summary_blocks(traces, top);
    return out;
  }
  out.blocks.push_back(trace_block(all));
  out.blocks.push_back(breakdown_block(all));
  if (all.size() > 1) out.blocks.push_back(ranks_block(all));
  out.blocks.push_back(gpu_block(all));
  if (all.size() < traces.size()) {
    for (Block& block : system_blocks(traces, gpu_times(all), top)) {
      out.blocks.push_back(std::move(block));
    }
  }
  OperatorRows operators = operator_rows(traces, top, kTopRows);
  const bool has_operators = !operators.table.empty();
  if (has_operators) {
    for (std::string& note : operators.notes) note += " (sonde report --view operators)";
    out.blocks.push_back({"operators", "Top operators", std::move(operators.table), operators.empty,
                          std::move(operators.notes)});
  } else {
    out.blocks.push_back(slices_block(all, top));
  }
  Block kernels = kernels_block(traces, top, kTopRows, true);
  if (!std::get<Table>(kernels.content).empty()) {
    kernels.title = "Top kernels";
    for (std::string& note : kernels.notes) note += " (sonde report --view kernels)";
    out.blocks.push_back(std::move(kernels));
  }
  if (has_operators) out.blocks.push_back(advice_block(all));
  return out;
}

}  // namespace sonde
