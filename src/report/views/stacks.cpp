#include "report/views/stacks.hpp"

#include <algorithm>

#include "analysis/hot_stacks.hpp"
#include "report/views/profile_cells.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 15;
constexpr std::size_t kMaxFrames = 128;
constexpr const char* kNoStacks =
    "No stacks in this trace: it has neither samples nor anything with a duration.";

std::string stack_text(const HotStacks& stacks, std::uint32_t frame) {
  bool cut = false;
  std::string out;
  const std::vector<std::uint32_t> path = stacks.path(frame, kMaxFrames, cut);
  if (cut) out = "...";
  for (const std::uint32_t at : path) {
    if (!out.empty()) out += ';';
    out += stacks.frames[at].name;
  }
  return out;
}

bool stack_matches(const HotStacks& stacks, std::uint32_t frame, const ReportRequest& request) {
  if (request.filter.empty()) return true;
  for (; frame != UINT32_MAX; frame = stacks.frames[frame].caller) {
    if (row_matches(request, {stacks.frames[frame].name, stacks.frames[frame].file})) return true;
  }
  return false;
}

// Of a recorded run people get the first cost only.
std::string cost_of(RunTraces traces, const ReportRequest& request) {
  if (!request.weight.empty() || request.for_programs()) return request.weight;
  for (const NamedTrace& named : traces) {
    const Trace& trace = named.trace;
    if (trace.meta().format == "sonde" && !trace.samples().empty() && !trace.sample_types().empty())
      return std::string(trace.text(trace.sample_types().front().name));
  }
  return {};
}

Block block_of(const HotStacks& stacks, std::size_t cost, const ReportRequest& request,
               std::size_t sensible) {
  const ProfileCost& what = stacks.costs[cost];
  const bool programs = for_programs(request);
  std::vector<HotStacks::Row> rows;
  for (const HotStacks::Row& row : stacks.rows) {
    if (row.cost == cost && stack_matches(stacks, row.frame, request)) rows.push_back(row);
  }
  Block out{"stacks", "", {}, kNoStacks, {}};
  cut_rows(rows, request, sensible, out);
  Table table;
  if (programs) table.columns = {{.key = "cost"}, {.key = "unit"}};
  table.columns.push_back({.key = programs ? "self" : cost_key("self", what),
                           .header = cost_header(what),
                           .type = cost_type(what)});
  table.columns.push_back({.key = "percent", .header = "Share", .type = CellType::Percent});
  table.columns.push_back({.key = "stack", .header = "Stack", .cut = Cut::Middle, .least = 40});
  for (const HotStacks::Row& row : rows) {
    std::vector<Cell> cells;
    if (programs) cells = {what.name, what.unit};
    cells.push_back(cost_cell(row.weight, what));
    cells.push_back(share_cell(row.weight, stacks.whole[cost]));
    cells.emplace_back(stack_text(stacks, row.frame));
    table.rows.push_back(std::move(cells));
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

std::vector<Block> stacks_blocks(RunTraces traces, const ReportRequest& request,
                                 std::size_t sensible, const std::string& only_cost) {
  const HotStacks stacks = hot_stacks(traces);
  std::vector<Block> out;
  for (std::size_t cost = 0; cost < stacks.costs.size(); ++cost) {
    if (!only_cost.empty() && stacks.costs[cost].name != only_cost) continue;
    Block block = block_of(stacks, cost, request, sensible);
    if (for_programs(request) && !out.empty()) {
      auto& from = std::get<Table>(block.content).rows;
      auto& all = std::get<Table>(out.front().content).rows;
      std::move(from.begin(), from.end(), std::back_inserter(all));
      continue;
    }
    if (stacks.costs.size() > 1 && only_cost.empty() && !for_programs(request)) {
      block.title = "Stacks by " + stacks.costs[cost].name;
    }
    out.push_back(std::move(block));
  }
  if (out.empty()) out.push_back({"stacks", "", Table{}, kNoStacks, {}});
  return out;
}

Document stacks_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "stacks";
  out.title = view_title("Heaviest stacks", traces, "sums over all");
  out.csv_block = "stacks";
  out.blocks = stacks_blocks(traces, request, kSensibleRows, cost_of(traces, request));
  const bool sampled = std::any_of(traces.begin(), traces.end(), [](const NamedTrace& named) {
    return !named.trace.samples().empty();
  });
  if (sampled) note_weights(traces, request, out.blocks.back());
  for (const NamedTrace& named : traces) {
    if (named.trace.call_profile().empty() || sampled) continue;
    out.blocks.back().notes.emplace_back(
        "A profile of sums knows who called whom, but no stacks: see --view callgraph.");
    break;
  }
  return out;
}

}  // namespace sonde
