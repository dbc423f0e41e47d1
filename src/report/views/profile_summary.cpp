#include "report/views/profile_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/counter_stats.hpp"
#include "analysis/function_profile.hpp"
#include "report/views/functions.hpp"
#include "report/views/lines.hpp"
#include "report/views/profile_cells.hpp"
#include "report/views/rows.hpp"
#include "report/views/stacks.hpp"

namespace sonde {
namespace {

constexpr std::size_t kTopStacks = 5;

std::string producers(RunTraces traces) {
  std::vector<std::string> seen;
  for (const NamedTrace& named : traces) {
    const TraceMeta& meta = named.trace.meta();
    std::string text = meta.producer.empty() ? meta.format : meta.producer;
    if (!meta.version.empty()) text += ", " + meta.version;
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  std::string out;
  for (const std::string& text : seen) out += (out.empty() ? "" : ", ") + text;
  return out;
}

void add_count(Facts& facts, const char* key, const char* label, std::uint64_t count) {
  if (count > 0) facts.push_back({key, label, count_cell(count), CellType::Integer, ""});
}

// "Total", or "Total of Ir" where there are several costs.
void add_totals(Facts& facts, const FunctionProfile& profile) {
  for (std::size_t i = 0; i < profile.costs.size(); ++i) {
    const ProfileCost& cost = profile.costs[i];
    const std::string name = profile.costs.size() > 1 ? "Total " + cost.name : "Total";
    const std::string key =
        cost_key(profile.costs.size() > 1 ? "total_" + cost.name : std::string("total"), cost);
    // The label names the cost already where there are several.
    const Cell total = cost_cell(profile.whole[i], cost);
    facts.push_back({key, name, total, cost_type(cost),
                     profile.costs.size() > 1 ? cell_text(total, cost_type(cost))
                                              : cost_text(profile.whole[i], cost)});
  }
}

Block facts_block(RunTraces traces, const FunctionProfile& profile) {
  Facts facts;
  facts.push_back({"producer", "Producer", producers(traces), CellType::Text, ""});
  Nanos span = 0;
  std::uint64_t samples = 0;
  std::uint64_t slices = 0;
  std::uint64_t values = 0;
  for (const NamedTrace& named : traces) {
    span = std::max(span, named.trace.span_end());
    samples += named.trace.samples().size();
    slices += named.trace.slice_count();
    values += named.trace.counters().size();
  }
  const TraceMeta& meta = traces.front().trace.meta();
  if (span > 0) {
    std::string shown = format_duration(static_cast<double>(span));
    if (meta.wall_clock) shown += ", from " + format_utc(meta.base_time + meta.origin);
    facts.push_back({"span_ns", "Span", span, CellType::Duration, shown});
  }
  if (profile.self_known && profile.source != ProfileSource::None) add_totals(facts, profile);
  std::int64_t calls = 0;
  std::int64_t primitive = 0;
  if (profile.source == ProfileSource::Counted && !profile.calls_are_samples) {
    for (const FunctionProfile::Function& function : profile.functions) {
      calls += function.calls;
      primitive += function.primitive_calls;
    }
  }
  if (calls > 0) {
    std::string shown = format_count(calls);
    if (primitive != calls) shown += fmt::format(" ({} primitive)", format_count(primitive));
    facts.push_back({"calls", "Calls", calls, CellType::Integer, shown});
  }
  add_count(facts, "functions", "Functions", profile.functions.size());
  add_count(facts, "lines", "Lines", profile.lines.size());
  add_count(facts, "samples", "Samples", samples);
  add_count(facts, "slices", "Events", slices);
  add_count(facts, "counter_values", "Counter values", values);
  return {"trace", "Trace", std::move(facts), "", {}};
}

// The cost that matters most: pprof's files have it last, others first.
std::size_t main_cost(RunTraces traces, const FunctionProfile& profile) {
  const bool last = traces.front().trace.meta().format == "pprof" && !profile.costs.empty();
  return last ? profile.costs.size() - 1 : 0;
}

Block counters_block(RunTraces traces) {
  Block out{"counters", "Memory", {}, "", {}};
  Table table;
  table.columns = {{.key = "trace", .header = "Process", .cut = Cut::Middle},
                   {.key = "counter", .header = "Counter"},
                   {.key = "values", .header = "Values", .type = CellType::Integer, .drop = 2},
                   {.key = "first_bytes", .header = "First", .type = CellType::Bytes},
                   {.key = "peak_bytes", .header = "Peak", .type = CellType::Bytes},
                   {.key = "peak_time_ns", .header = "At", .type = CellType::Duration, .drop = 1},
                   {.key = "last_bytes", .header = "Last", .type = CellType::Bytes}};
  bool bytes = true;
  for (const NamedTrace& named : traces) bytes = bytes && named.trace.meta().profile_memory;
  if (!bytes) {
    out.title = "Counters";
    for (Column& column : table.columns) {
      if (column.type != CellType::Bytes) continue;
      column.type = CellType::Real;
      column.key = column.key.substr(0, column.key.find('_'));
    }
  }
  for (const NamedTrace& named : traces) {
    const Trace& trace = named.trace;
    for (const CounterStats& stats : counter_stats(trace)) {
      std::string name(trace.text(stats.counter));
      if (!trace.text(stats.series).empty()) name += ", " + std::string(trace.text(stats.series));
      table.rows.push_back({text_cell(trace.text(trace.track(stats.track).process)), name,
                            count_cell(stats.values), stats.first, stats.peak, stats.peak_time,
                            stats.last});
    }
  }
  const bool named = std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) {
    return row.front() != Cell(std::string());
  });
  if (!named) {
    table.columns.erase(table.columns.begin());
    for (std::vector<Cell>& row : table.rows) row.erase(row.begin());
  }
  out.content = std::move(table);
  return out;
}

void add_blocks(std::vector<Block>& out, std::vector<Block> blocks, const std::string& title,
                const char* view) {
  for (Block& block : blocks) {
    if (std::get<Table>(block.content).empty()) continue;
    block.title = title;
    for (std::string& note : block.notes) note += fmt::format(" (sonde report --view {})", view);
    out.push_back(std::move(block));
  }
}

}  // namespace

bool is_profile_run(RunTraces traces) {
  return std::all_of(traces.begin(), traces.end(),
                     [](const NamedTrace& named) { return is_function_profile(named.trace); });
}

std::vector<Block> profile_summary_blocks(RunTraces traces, const ReportRequest& request) {
  std::size_t left_out = 0;
  FunctionProfile profile = function_profile(traces, &left_out);
  std::vector<Block> out;
  out.push_back(facts_block(traces, profile));
  note_left_out(left_out, out.back());
  Block counters = counters_block(traces);
  if (!std::get<Table>(counters.content).empty()) out.push_back(std::move(counters));
  constexpr std::size_t kTopRows = 8;
  const std::size_t cost = main_cost(traces, profile);
  const std::string by =
      profile.costs.size() > 1 ? " by " + profile.costs[cost].name : std::string();
  const std::string cost_name = profile.costs.empty() ? "" : profile.costs[cost].name;
  profile = with_one_cost(std::move(profile), cost);
  add_blocks(out, functions_blocks(profile, request, kTopRows), "Top functions" + by, "functions");
  if (!profile.lines.empty()) {
    add_blocks(out, lines_blocks(profile, request, kTopRows), "Top lines" + by, "lines");
  }
  if (profile.source == ProfileSource::Samples || profile.source == ProfileSource::Slices) {
    ReportRequest top = request;
    if (!top.limit || *top.limit > static_cast<std::int64_t>(kTopStacks)) {
      top.limit = static_cast<std::int64_t>(kTopStacks);
    }
    add_blocks(out, stacks_blocks(traces, top, kTopStacks, cost_name), "Heaviest stacks" + by,
               "stacks");
  }
  return out;
}

}  // namespace sonde
