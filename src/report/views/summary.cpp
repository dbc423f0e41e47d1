#include "report/views/summary.hpp"

#include <algorithm>

#include "analysis/devices.hpp"
#include "analysis/hot_slices.hpp"
#include "analysis/system_use.hpp"
#include "report/views/kernels.hpp"
#include "report/views/operators.hpp"
#include "report/views/profile_summary.hpp"
#include "report/views/python_summary.hpp"
#include "report/views/rows.hpp"
#include "report/views/sampling_facts.hpp"
#include "report/views/summary_parts.hpp"
#include "report/views/system.hpp"

namespace sonde {
namespace {

constexpr std::size_t kTopRows = 8;

TraceSummary summarise(const NamedTrace& named) {
  TraceSummary out{&named, trace_facts(named.trace), {}, {}, {}, has_times(named.trace)};
  const OpTree tree(named.trace);
  out.steps = break_down_steps(named.trace, tree);
  out.gpus = gpu_utilization(named.trace, out.steps.window(), Unplaced::OnTheirTracks);
  if (out.timed && out.steps.average_total > 0) {
    out.advice = give_advice({named.trace, tree, out.steps, out.gpus});
  }
  return out;
}

GpuTimesById gpu_times(const std::vector<TraceSummary>& all) {
  GpuTimesById out;
  for (const TraceSummary& one : all) {
    add_gpu_times(one.trace(), device_use(one.trace(), one.steps.window()), out);
  }
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

bool only_device_work(const std::vector<TraceSummary>& all) {
  return std::all_of(all.begin(), all.end(), [](const TraceSummary& one) {
    return std::all_of(one.facts.kinds.begin(), one.facts.kinds.end(),
                       [](const KindCount& count) { return is_device_work(count.kind); });
  });
}

// The ranges in a memory snapshot tell where in the program its allocations happened, not how the
// program's time was spent.
bool is_about_memory(const std::vector<TraceSummary>& all) {
  return std::all_of(all.begin(), all.end(), [](const TraceSummary& one) {
    return one.trace().meta().format == "memory_snapshot";
  });
}

// Says where to find the rows that were cut off.
void name_view(std::vector<std::string>& notes, const std::string& view) {
  for (std::string& note : notes) {
    if (note.find("--limit") != std::string::npos) note += " (sonde report --view " + view + ")";
  }
}

// A run of sums and samples has no steps and no events: that there are none says nothing.
void drop_timeline_facts(Block& block) {
  std::erase_if(std::get<Facts>(block.content), [](const Fact& fact) {
    const bool no_span = fact.key == "span_ns" && fact.value == Cell(std::int64_t{0});
    return no_span || fact.key == "steps" || fact.key == "slices" || fact.key == "devices";
  });
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
    for (Block& block : sampling_blocks(traces)) out.blocks.push_back(std::move(block));
    return out;
  }
  out.blocks.push_back(trace_block(all));
  const bool python = has_python_data(traces);
  const bool no_slices = std::all_of(all.begin(), all.end(), [](const TraceSummary& one) {
    return one.trace().slice_count() == 0;
  });
  if (is_about_memory(all)) {
    out.blocks.push_back(memory_block(all));
  } else if (!python || !no_slices) {
    out.blocks.push_back(breakdown_block(all, request));
    if (all.size() > 1) out.blocks.push_back(ranks_block(all));
    out.blocks.push_back(gpu_block(all));
  }
  if (python) {
    if (no_slices) drop_timeline_facts(out.blocks.front());
    add_python_fact(traces, out.blocks.front());
    for (Block& block : python_summary_blocks(traces, top)) out.blocks.push_back(std::move(block));
  }
  if (all.size() < traces.size()) {
    for (Block& block : system_blocks(traces, gpu_times(all), top)) {
      out.blocks.push_back(std::move(block));
    }
  }
  OperatorRows operators = operator_rows(traces, top, kTopRows);
  const bool has_operators = !operators.table.empty();
  if (has_operators) {
    name_view(operators.notes, "operators");
    out.blocks.push_back({"operators", "Top operators", std::move(operators.table), operators.empty,
                          std::move(operators.notes)});
  }
  Block kernels = kernels_block(traces, top, kTopRows, true);
  const bool has_kernels = !std::get<Table>(kernels.content).empty();
  const bool told = has_operators || is_about_memory(all) || (python && no_slices);
  if (!told && !(has_kernels && only_device_work(all))) {
    out.blocks.push_back(slices_block(all, top));
  }
  if (has_kernels) {
    kernels.title = "Top kernels";
    name_view(kernels.notes, "kernels");
    out.blocks.push_back(std::move(kernels));
  }
  const bool timed =
      std::any_of(all.begin(), all.end(), [](const TraceSummary& one) { return one.timed; });
  if (has_operators && timed) out.blocks.push_back(advice_block(all));
  for (Block& block : sampling_blocks(traces)) out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace sonde
