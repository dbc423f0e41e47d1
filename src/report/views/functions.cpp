#include "report/views/functions.hpp"

#include <algorithm>
#include <tuple>

#include "report/views/profile_cells.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

std::vector<std::size_t> sorted(const FunctionProfile& profile, std::size_t cost,
                                const ReportRequest& request) {
  const std::string& key = request.sort;
  const auto& functions = profile.functions;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const FunctionProfile::Function& f = functions[i];
    if (row_matches(request, {f.name, f.qualified_name, f.file, f.module})) order.push_back(i);
  }
  const auto per_call = [&](std::size_t i) {
    const auto calls = static_cast<double>(std::max<std::int64_t>(functions[i].primitive_calls, 1));
    return profile.total_of(i, cost) / calls;
  };
  if (key == "file" || key == "filename" || key == "module" || key == "line") {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(functions[a].file, functions[a].module, functions[a].line) <
             std::tie(functions[b].file, functions[b].module, functions[b].line);
    });
  } else if (key == "primitive" || key == "pcalls") {
    sort_descending(order, [&](std::size_t i) { return functions[i].primitive_calls; });
  } else if (key == "per_call") {
    sort_descending(order, per_call);
  } else if (key == "name") {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return functions[a].name < functions[b].name;
    });
  } else if (key == "calls" || key == "ncalls") {
    sort_descending(order, [&](std::size_t i) { return functions[i].calls; });
  } else if (key == "total" || key == "cumulative" || key == "cumtime" ||
             (key.empty() && !profile.self_known)) {
    sort_descending(order, [&](std::size_t i) { return profile.total_of(i, cost); });
  } else {
    sort_descending(order, [&](std::size_t i) { return profile.self_of(i, cost); });
  }
  return order;
}

bool recursive(const FunctionProfile& profile) {
  return std::any_of(profile.functions.begin(), profile.functions.end(),
                     [](const auto& f) { return f.calls != f.primitive_calls; });
}

// For people: what there is, in columns that mean something.
Block block_for_people(const FunctionProfile& profile, std::size_t cost,
                       const ReportRequest& request, std::size_t sensible) {
  const ProfileCost& what = profile.costs[cost];
  std::vector<std::size_t> order = sorted(profile, cost, request);
  Block out;
  out.id = "functions";
  out.when_empty = kNoFunctions;
  cut_rows(order, request, sensible, out);
  const bool calls = shows_calls(profile, cost);
  const bool primitive = calls && !profile.calls_are_samples && recursive(profile);
  const bool places = std::any_of(profile.functions.begin(), profile.functions.end(),
                                  [](const auto& f) { return !f.file.empty() || f.line > 0; });
  Table table;
  table.columns.push_back({.key = "name", .header = "Function", .cut = Cut::Middle, .least = 24});
  if (calls) {
    table.columns.push_back(
        {.key = "calls", .header = calls_header(profile), .type = CellType::Integer});
  }
  if (primitive) {
    table.columns.push_back(
        {.key = "primitive_calls", .header = "Primitive", .type = CellType::Integer, .drop = 4});
  }
  if (profile.self_known) {
    table.columns.insert(
        table.columns.end(),
        {{.key = cost_key("self", what), .header = "Self", .type = cost_type(what)},
         {.key = "self_percent", .header = "Self %", .type = CellType::Percent, .drop = 2}});
  }
  table.columns.push_back(
      {.key = cost_key("total", what), .header = "Total", .type = cost_type(what)});
  // Where only totals are known, one may lie within another: they have no sum.
  if (profile.self_known) {
    table.columns.push_back(
        {.key = "total_percent", .header = "Total %", .type = CellType::Percent, .drop = 3});
  }
  if (places) {
    table.columns.push_back({.key = "place", .header = "Place", .cut = Cut::Middle, .drop = 1});
  }
  const double whole = profile.whole[cost];
  for (const std::size_t i : order) {
    const FunctionProfile::Function& f = profile.functions[i];
    std::vector<Cell> cells = {text_cell(f.best_name())};
    if (calls) cells.emplace_back(f.calls);
    if (primitive) cells.emplace_back(f.primitive_calls);
    if (profile.self_known) {
      cells.push_back(cost_cell(profile.self_of(i, cost), what));
      cells.push_back(share_cell(profile.self_of(i, cost), whole));
    }
    cells.push_back(cost_cell(profile.total_of(i, cost), what));
    if (profile.self_known) cells.push_back(share_cell(profile.total_of(i, cost), whole));
    if (places) cells.emplace_back(place_text(f.file.empty() ? f.module : f.file, f.line));
    table.rows.push_back(std::move(cells));
  }
  out.content = std::move(table);
  return out;
}

// For programs: all costs in one table, each with its name and unit.
Block block_for_programs(const FunctionProfile& profile, const ReportRequest& request,
                         std::size_t sensible) {
  Block out;
  out.id = "functions";
  out.when_empty = kNoFunctions;
  Table table;
  table.columns = {
      {.key = "cost"},
      {.key = "unit"},
      {.key = "name"},
      {.key = "file"},
      {.key = "line", .type = CellType::Integer},
      {.key = "module"},
      {.key = profile.calls_are_samples ? "samples" : "calls", .type = CellType::Integer},
      {.key = "primitive_calls", .type = CellType::Integer},
      {.key = "self", .type = CellType::Real},
      {.key = "self_percent", .type = CellType::Percent},
      {.key = "total", .type = CellType::Real},
      {.key = "total_percent", .type = CellType::Percent}};
  for (std::size_t cost = 0; cost < profile.costs.size(); ++cost) {
    const ProfileCost& what = profile.costs[cost];
    std::vector<std::size_t> order = sorted(profile, cost, request);
    cut_rows(order, request, sensible, out);
    const bool calls = shows_calls(profile, cost);
    for (const std::size_t i : order) {
      const FunctionProfile::Function& f = profile.functions[i];
      const double self = profile.self_of(i, cost);
      const double total = profile.total_of(i, cost);
      table.rows.push_back({what.name, what.unit, text_cell(f.name), text_cell(f.file),
                            f.line > 0 ? Cell(std::int64_t{f.line}) : Cell(), text_cell(f.module),
                            calls ? Cell(f.calls) : Cell(),
                            calls && !profile.calls_are_samples ? Cell(f.primitive_calls) : Cell(),
                            profile.self_known ? cost_cell(self, what) : Cell(),
                            profile.self_known ? share_cell(self, profile.whole[cost]) : Cell(),
                            cost_cell(total, what),
                            profile.self_known ? share_cell(total, profile.whole[cost]) : Cell()});
    }
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

const std::vector<std::string>& functions_sort_keys() {
  static const std::vector<std::string> kKeys = {"self",     "total", "calls", "primitive",
                                                 "per_call", "name",  "file"};
  return kKeys;
}

std::vector<Block> functions_blocks(const FunctionProfile& profile, const ReportRequest& request,
                                    std::size_t sensible) {
  std::vector<Block> out;
  if (profile.costs.empty()) {
    out.push_back({"functions", "", Table{}, kNoFunctions, {}});
    return out;
  }
  if (for_programs(request)) {
    out.push_back(block_for_programs(profile, request, sensible));
    return out;
  }
  for (std::size_t cost = 0; cost < profile.costs.size(); ++cost) {
    Block block = block_for_people(profile, cost, request, sensible);
    if (profile.costs.size() > 1) block.title = cost_title("Functions", profile, cost);
    out.push_back(std::move(block));
  }
  return out;
}

Document functions_view(RunTraces traces, const ReportRequest& request) {
  std::size_t left_out = 0;
  const FunctionProfile profile =
      requested_profile(traces, request, ProfileNeed::Functions, &left_out);
  Document out;
  out.view = "functions";
  out.title = view_title("Functions", traces, "sums over all");
  out.csv_block = "functions";
  out.blocks = functions_blocks(profile, request, kSensibleRows);
  note_choice(traces, request, ProfileNeed::Functions, profile, out.blocks.back());
  note_left_out(left_out, out.blocks.back());
  return out;
}

}  // namespace sonde
