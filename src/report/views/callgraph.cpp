#include "report/views/callgraph.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/function_profile.hpp"
#include "report/views/profile_cells.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleFunctions = 10;
constexpr const char* kNoCalls = "No calls in this trace: it does not tell who called whom.";

// The calls of each function, as indexes of FunctionProfile::calls.
struct Neighbours {
  explicit Neighbours(const FunctionProfile& profile)
      : callers(profile.functions.size()), callees(profile.functions.size()) {
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
      callers[profile.calls[i].callee].push_back(i);
      callees[profile.calls[i].caller].push_back(i);
    }
  }
  std::vector<std::vector<std::size_t>> callers;
  std::vector<std::vector<std::size_t>> callees;
};

class CallGraph {
 public:
  CallGraph(const FunctionProfile& profile, const ReportRequest& request)
      : profile_(profile), request_(request), neighbours_(profile) {}

  Block for_people(std::size_t cost) const {
    const ProfileCost& what = profile_.costs[cost];
    Block out = empty_block();
    std::vector<std::size_t> order = sorted(cost);
    cut_rows(order, request_, kSensibleFunctions, out);
    const bool counts = shows_calls(profile_, cost);
    Table table;
    table.columns.push_back({.key = "name", .header = "Function", .cut = Cut::Middle, .least = 30});
    if (counts) {
      table.columns.push_back(
          {.key = "calls", .header = calls_header(profile_), .type = CellType::Integer});
    }
    table.columns.push_back(
        {.key = cost_key("self", what), .header = "Self", .type = cost_type(what), .drop = 2});
    table.columns.push_back(
        {.key = cost_key("total", what), .header = "Total", .type = cost_type(what)});
    table.columns.push_back({.key = "place", .header = "Place", .cut = Cut::Middle, .drop = 1});
    const auto add = [&](const std::string& mark, std::size_t function, std::int64_t calls,
                         Cell self, Cell total) {
      const FunctionProfile::Function& f = profile_.functions[function];
      std::vector<Cell> cells = {mark + std::string(f.best_name())};
      if (counts) cells.emplace_back(calls);
      cells.push_back(std::move(self));
      cells.push_back(std::move(total));
      cells.emplace_back(place_text(f.file.empty() ? f.module : f.file, f.line));
      table.rows.push_back(std::move(cells));
    };
    for (const std::size_t i : order) {
      add("", i, profile_.functions[i].calls,
          profile_.self_known ? cost_cell(profile_.self_of(i, cost), what) : Cell(),
          cost_cell(profile_.total_of(i, cost), what));
      for (const std::size_t c : by_total(neighbours_.callers[i], cost)) {
        add("  <- ", profile_.calls[c].caller, profile_.calls[c].calls, call_self(c, cost),
            call_total(c, cost));
      }
      for (const std::size_t c : by_total(neighbours_.callees[i], cost)) {
        add("  -> ", profile_.calls[c].callee, profile_.calls[c].calls, call_self(c, cost),
            call_total(c, cost));
      }
    }
    if (!profile_.call_costs_known) {
      out.notes.emplace_back("The file counts calls, but does not tell what they cost.");
    }
    out.content = std::move(table);
    return out;
  }

  Block for_programs() const {
    Block out = empty_block();
    Table table;
    table.columns = {
        {.key = "cost"},
        {.key = "unit"},
        {.key = "caller"},
        {.key = "caller_file"},
        {.key = "caller_line", .type = CellType::Integer},
        {.key = "callee"},
        {.key = "callee_file"},
        {.key = "callee_line", .type = CellType::Integer},
        {.key = profile_.calls_are_samples ? "samples" : "calls", .type = CellType::Integer},
        {.key = "self", .type = CellType::Real},
        {.key = "total", .type = CellType::Real}};
    for (std::size_t cost = 0; cost < profile_.costs.size(); ++cost) {
      std::vector<std::size_t> order = sorted(cost);
      cut_rows(order, request_, SIZE_MAX, out);
      for (const std::size_t i : order) {
        for (const std::size_t c : by_total(neighbours_.callees[i], cost)) {
          const auto& caller = profile_.functions[profile_.calls[c].caller];
          const auto& callee = profile_.functions[profile_.calls[c].callee];
          const auto line = [](std::int32_t n) { return n > 0 ? Cell(std::int64_t{n}) : Cell(); };
          table.rows.push_back(
              {profile_.costs[cost].name, profile_.costs[cost].unit, text_cell(caller.name),
               text_cell(caller.file), line(caller.line), text_cell(callee.name),
               text_cell(callee.file), line(callee.line),
               shows_calls(profile_, cost) ? Cell(profile_.calls[c].calls) : Cell(),
               call_self(c, cost), call_total(c, cost)});
        }
      }
    }
    out.content = std::move(table);
    return out;
  }

 private:
  static Block empty_block() {
    Block out;
    out.id = "calls";
    out.when_empty = kNoCalls;
    return out;
  }

  Cell call_self(std::size_t call, std::size_t cost) const {
    if (!profile_.callee_self_known) return Cell();
    return cost_cell(profile_.call_self[call * profile_.costs.size() + cost], profile_.costs[cost]);
  }
  Cell call_total(std::size_t call, std::size_t cost) const {
    if (!profile_.call_costs_known) return Cell();
    return cost_cell(profile_.call_total[call * profile_.costs.size() + cost],
                     profile_.costs[cost]);
  }

  std::vector<std::size_t> by_total(std::vector<std::size_t> calls, std::size_t cost) const {
    const std::size_t costs = profile_.costs.size();
    if (profile_.call_costs_known) {
      sort_descending(calls, [&](std::size_t c) { return profile_.call_total[c * costs + cost]; });
    } else {
      sort_descending(calls, [&](std::size_t c) { return profile_.calls[c].calls; });
    }
    return calls;
  }

  // Functions that neither call nor are called have no place in a graph.
  std::vector<std::size_t> sorted(std::size_t cost) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < profile_.functions.size(); ++i) {
      const FunctionProfile::Function& f = profile_.functions[i];
      if (!row_matches(request_, {f.name, f.qualified_name, f.file, f.module})) continue;
      if (!neighbours_.callers[i].empty() || !neighbours_.callees[i].empty()) order.push_back(i);
    }
    const std::string& key = request_.sort;
    if (key == "name") {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return profile_.functions[a].name < profile_.functions[b].name;
      });
    } else if (key == "file") {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(profile_.functions[a].file, profile_.functions[a].line) <
               std::tie(profile_.functions[b].file, profile_.functions[b].line);
      });
    } else if (key == "calls") {
      sort_descending(order, [&](std::size_t i) { return profile_.functions[i].calls; });
    } else if (key == "self") {
      sort_descending(order, [&](std::size_t i) { return profile_.self_of(i, cost); });
    } else {
      sort_descending(order, [&](std::size_t i) { return profile_.total_of(i, cost); });
    }
    return order;
  }

  const FunctionProfile& profile_;
  const ReportRequest& request_;
  Neighbours neighbours_;
};

}  // namespace

const std::vector<std::string>& callgraph_sort_keys() {
  static const std::vector<std::string> kKeys = {"total", "self", "calls", "name", "file"};
  return kKeys;
}

Document callgraph_view(RunTraces traces, const ReportRequest& request) {
  std::size_t left_out = 0;
  const FunctionProfile profile =
      requested_profile(traces, request, ProfileNeed::Functions, &left_out);
  Document out;
  out.view = "callgraph";
  out.title = view_title("Callers and callees", traces, "sums over all");
  out.csv_block = "calls";
  const CallGraph graph(profile, request);
  if (profile.costs.empty()) {
    out.blocks.push_back({"calls", "", Table{}, kNoCalls, {}});
  } else if (for_programs(request)) {
    out.blocks.push_back(graph.for_programs());
  } else {
    for (std::size_t cost = 0; cost < profile.costs.size(); ++cost) {
      out.blocks.push_back(graph.for_people(cost));
      if (profile.costs.size() > 1) out.blocks.back().title = cost_title("Calls", profile, cost);
    }
  }
  note_choice(traces, request, ProfileNeed::Functions, profile, out.blocks.back());
  note_left_out(left_out, out.blocks.back());
  return out;
}

}  // namespace sonde
