#include "report/views/lines.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/format.hpp"
#include "report/views/profile_cells.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 30;
constexpr const char* kNoLines = "No lines of source in this trace: it knows functions only.";

double line_cost(const FunctionProfile& profile, std::size_t line, std::size_t cost) {
  return profile.line_self[line * profile.costs.size() + cost];
}

double line_total(const FunctionProfile& profile, std::size_t line, std::size_t cost) {
  return profile.line_total.empty() ? 0 : profile.line_total[line * profile.costs.size() + cost];
}

// What a line of the profile had the GPU do, line by line; empty where nothing is known of it.
using DeviceCosts = std::vector<DeviceLines::Line>;

// Adds lines to the profile that have only device time, with costs of 0.
DeviceCosts add_device_lines(FunctionProfile& profile, const DeviceLines& device) {
  using Place = std::tuple<std::string_view, std::int32_t, std::string_view>;
  std::map<Place, std::size_t> lines;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> functions;
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    const FunctionProfile::Line& line = profile.lines[i];
    const std::string_view name = profile.functions[line.function].best_name();
    lines.try_emplace({line.file, line.line, name}, i);
    functions.try_emplace({line.file, name}, line.function);
  }
  DeviceCosts out(profile.lines.size());
  const std::size_t costs = profile.costs.size();
  for (const DeviceLines::Line& line : device.lines) {
    const auto [at, fresh] =
        lines.try_emplace({line.file, line.line, line.function}, profile.lines.size());
    if (fresh) {
      const auto [function, unknown] =
          functions.try_emplace({line.file, line.function}, profile.functions.size());
      if (unknown) {
        profile.functions.push_back({line.function, line.file, {}, 0, 0, 0});
        profile.self.resize(profile.functions.size() * costs);
        profile.total.resize(profile.functions.size() * costs);
      }
      profile.lines.push_back(
          {static_cast<std::uint32_t>(function->second), line.file, line.line, 0});
      profile.line_self.resize(profile.lines.size() * costs);
      if (!profile.line_total.empty()) profile.line_total.resize(profile.lines.size() * costs);
      out.emplace_back();
    }
    out[at->second] = line;
  }
  return out;
}

// Without those that add_device_lines() added.
void cut_lines(FunctionProfile& profile, DeviceCosts& device, std::size_t count) {
  profile.lines.resize(count);
  if (!device.empty()) device.resize(count);
}

std::vector<std::size_t> sorted(const FunctionProfile& profile, const DeviceCosts& device,
                                std::size_t cost, const ReportRequest& request) {
  const std::string& key = request.sort;
  const auto& lines = profile.lines;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const FunctionProfile::Function& f = profile.functions[lines[i].function];
    if (row_matches(request, {lines[i].file, f.name, f.qualified_name, f.module})) {
      order.push_back(i);
    }
  }
  if (key == "line") {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(lines[a].file, lines[a].line) < std::tie(lines[b].file, lines[b].line);
    });
  } else if (!device.empty() && key == "device_total") {
    sort_descending(order,
                    [&](std::size_t i) { return std::pair(device[i].total, device[i].self); });
  } else if (!device.empty() && (key == "device" || profile.costs.empty())) {
    sort_descending(order,
                    [&](std::size_t i) { return std::pair(device[i].self, device[i].total); });
  } else if (key == "per_hit") {
    sort_descending(order, [&](std::size_t i) {
      const auto hits = static_cast<double>(std::max<std::int64_t>(lines[i].hits, 1));
      return line_cost(profile, i, cost) / hits;
    });
  } else if (key == "hits") {
    sort_descending(order, [&](std::size_t i) { return lines[i].hits; });
  } else if (key == "total" && !profile.line_total.empty()) {
    sort_descending(order, [&](std::size_t i) { return line_total(profile, i, cost); });
  } else {
    sort_descending(order, [&](std::size_t i) {
      return std::pair(line_cost(profile, i, cost), line_total(profile, i, cost));
    });
  }
  return order;
}

// What the lines of each function are shares of: its own cost, or where lines include what they
// called, all its lines together.
std::vector<double> function_wholes(const FunctionProfile& profile, std::size_t cost) {
  std::vector<double> out(profile.functions.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = profile.self_of(i, cost);
  if (profile.line_self_known) return out;
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    out[profile.lines[i].function] += line_cost(profile, i, cost);
  }
  return out;
}

bool has_hits(const FunctionProfile& profile, std::size_t cost) {
  if (profile.source == ProfileSource::Samples && !profile.costs[cost].timed) return false;
  return std::any_of(profile.lines.begin(), profile.lines.end(),
                     [](const auto& line) { return line.hits > 0; });
}

constexpr std::size_t kDeviceColumns = 5;

void add_device_columns(Table& table) {
  table.columns.push_back({.key = "device_self_ns", .header = "GPU", .type = CellType::Duration});
  table.columns.push_back(
      {.key = "device_percent", .header = "GPU share", .type = CellType::Percent, .drop = 2});
  table.columns.push_back(
      {.key = "device_total_ns", .header = "GPU total", .type = CellType::Duration});
  table.columns.push_back(
      {.key = "device_backward_ns", .header = "backward", .type = CellType::Duration, .drop = 4});
  table.columns.push_back(
      {.key = "device_work", .header = "Launched", .type = CellType::Integer, .drop = 5});
}

void add_device_cells(const DeviceLines::Line& line, Nanos whole, std::vector<Cell>& cells) {
  cells.push_back(time_cell(line.self));
  cells.push_back(share_cell(line.self, whole));
  cells.push_back(time_cell(line.total));
  cells.push_back(time_cell(line.backward));
  cells.push_back(Cell(line.work));
}

Table table_of(const FunctionProfile& profile, const DeviceCosts& device, Nanos device_whole,
               std::size_t cost, const ReportRequest& request, std::size_t sensible, Block& block) {
  const ProfileCost& what = profile.costs[cost];
  const bool programs = for_programs(request);
  const bool hits = programs || has_hits(profile, cost);
  std::vector<std::size_t> order = sorted(profile, device, cost, request);
  cut_rows(order, request, sensible, block);
  Table table;
  if (programs) table.columns = {{.key = "cost"}, {.key = "unit"}};
  table.columns.push_back({.key = "file", .header = "File", .cut = Cut::Middle, .least = 20});
  table.columns.push_back({.key = "line", .header = "Line", .type = CellType::Integer});
  if (hits) {
    table.columns.push_back({.key = profile.calls_are_samples ? "samples" : "hits",
                             .header = profile.calls_are_samples ? "Samples" : "Hits",
                             .type = CellType::Integer});
  }
  table.columns.push_back({.key = programs ? "self" : cost_key("self", what),
                           .header = cost_header(what),
                           .type = cost_type(what)});
  const bool totals = programs || !profile.line_total.empty();
  if (totals) {
    table.columns.push_back({.key = programs ? "total" : cost_key("total", what),
                             .header = "Total",
                             .type = cost_type(what)});
  }
  if (hits) {
    table.columns.push_back({.key = programs ? "per_hit" : cost_key("per_hit", what),
                             .header = "Per hit",
                             .type = what.unit == "count" ? CellType::Real : cost_type(what),
                             .drop = 2});
  }
  table.columns.push_back(
      {.key = "function_percent", .header = "Of function", .type = CellType::Percent, .drop = 3});
  if (profile.self_known) {
    table.columns.push_back({.key = "percent", .header = "Share", .type = CellType::Percent});
  }
  if (!device.empty()) add_device_columns(table);
  table.columns.push_back({.key = "function", .header = "Function", .cut = Cut::Middle, .drop = 1});
  const std::vector<double> wholes = function_wholes(profile, cost);
  for (const std::size_t i : order) {
    const FunctionProfile::Line& line = profile.lines[i];
    const double value = line_cost(profile, i, cost);
    std::vector<Cell> cells;
    if (programs) cells = {what.name, what.unit};
    cells.push_back(programs ? text_cell(line.file) : Cell(place_text(line.file, 0)));
    cells.push_back(line.line > 0 ? Cell(std::int64_t{line.line}) : Cell());
    const bool counted = has_hits(profile, cost);
    if (hits) cells.push_back(counted ? Cell(line.hits) : Cell());
    cells.push_back(cost_cell(value, what));
    if (totals) {
      cells.push_back(profile.line_total.empty() ? Cell()
                                                 : cost_cell(line_total(profile, i, cost), what));
    }
    if (hits) {
      cells.push_back(counted && line.hits > 0 ? Cell(value / static_cast<double>(line.hits))
                                               : Cell());
    }
    cells.push_back(share_cell(value, wholes[line.function]));
    if (profile.self_known) cells.push_back(share_cell(value, profile.whole[cost]));
    // Programs get all costs in one table: GPU time stands in the rows of the first one.
    if (!device.empty() && (cost == 0 || !programs)) {
      add_device_cells(device[i], device_whole, cells);
    } else if (!device.empty()) {
      cells.resize(cells.size() + kDeviceColumns);
    }
    cells.push_back(text_cell(for_programs(request)
                                  ? profile.functions[line.function].name
                                  : profile.functions[line.function].best_name()));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// Of a trace that knows nothing of the time of lines on the host.
Table device_table(const FunctionProfile& profile, const DeviceCosts& device, Nanos device_whole,
                   const ReportRequest& request, std::size_t sensible, Block& block) {
  std::vector<std::size_t> order = sorted(profile, device, 0, request);
  cut_rows(order, request, sensible, block);
  Table table;
  table.columns = {{.key = "file", .header = "File", .cut = Cut::Middle, .least = 20},
                   {.key = "line", .header = "Line", .type = CellType::Integer}};
  add_device_columns(table);
  table.columns.push_back({.key = "function", .header = "Function", .cut = Cut::Middle});
  for (const std::size_t i : order) {
    const FunctionProfile::Line& line = profile.lines[i];
    std::vector<Cell> cells = {
        for_programs(request) ? text_cell(line.file) : Cell(place_text(line.file, 0)),
        line.line > 0 ? Cell(std::int64_t{line.line}) : Cell()};
    add_device_cells(device[i], device_whole, cells);
    cells.push_back(text_cell(profile.functions[line.function].name));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void note_device(const DeviceLines& device, Block& block) {
  block.notes.push_back(
      "GPU: kernels, copies and sets, each counted once, for the innermost line of the program "
      "itself; GPU total: with all that was called from the line. What a backward pass launches "
      "counts for the line that ran forward.");
  if (device.begins_only) {
    block.notes.emplace_back(
        "The trace tells functions, not lines, of what was launched: GPU time stands at the line "
        "where the function begins.");
  }
  if (device.placed < device.whole) {
    block.notes.push_back(format_duration(static_cast<double>(device.whole - device.placed)) +
                          " of " + format_duration(static_cast<double>(device.whole)) +
                          " of GPU time have no line.");
  }
}

}  // namespace

const std::vector<std::string>& lines_sort_keys() {
  static const std::vector<std::string> kKeys = {"self", "total",  "hits",        "per_hit",
                                                 "line", "device", "device_total"};
  return kKeys;
}

std::vector<Block> lines_blocks(const FunctionProfile& all, const ReportRequest& request,
                                std::size_t sensible, const DeviceLines& device) {
  std::vector<Block> out;
  const bool on_host = !all.costs.empty() && !all.lines.empty();
  if (!on_host && device.lines.empty()) {
    out.push_back({"lines", "", Table{}, kNoLines, {}});
    return out;
  }
  FunctionProfile profile = on_host ? all : FunctionProfile{};
  DeviceCosts device_costs;
  if (!device.lines.empty()) device_costs = add_device_lines(profile, device);
  if (!on_host) {
    Block block{"lines", "", Table{}, kNoLines, {}};
    block.content = device_table(profile, device_costs, device.whole, request, sensible, block);
    out.push_back(std::move(block));
  }
  for (std::size_t cost = 0; cost < profile.costs.size(); ++cost) {
    Block block{"lines", "", Table{}, kNoLines, {}};
    if (cost == 1 && for_programs(request)) cut_lines(profile, device_costs, all.lines.size());
    Table table = table_of(profile, device_costs, device.whole, cost, request, sensible, block);
    if (for_programs(request) && !out.empty()) {
      auto& rows = std::get<Table>(out.front().content).rows;
      std::move(table.rows.begin(), table.rows.end(), std::back_inserter(rows));
      continue;
    }
    if (profile.costs.size() > 1 && !for_programs(request)) {
      block.title = cost_title("Lines", profile, cost);
    }
    block.content = std::move(table);
    out.push_back(std::move(block));
  }
  if (!device.lines.empty()) note_device(device, out.back());
  return out;
}

Document lines_view(RunTraces traces, const ReportRequest& request) {
  std::size_t left_out = 0;
  const FunctionProfile profile = requested_profile(traces, request, ProfileNeed::Lines, &left_out);
  Document out;
  out.view = "lines";
  out.title = view_title("Lines", traces, "sums over all");
  out.csv_block = "lines";
  out.blocks = lines_blocks(profile, request, kSensibleRows, device_lines(traces));
  if (!profile.line_self_known) {
    out.blocks.back().notes.emplace_back("The time of a line includes what it called.");
  }
  note_choice(traces, request, ProfileNeed::Lines, profile, out.blocks.back());
  note_left_out(left_out, out.blocks.back());
  return out;
}

}  // namespace sonde
