#include "report/styles/torch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/spelling.hpp"
#include "report/safe_text.hpp"

namespace sonde {
namespace {

using SortValue = double (*)(const TorchAverage&);

struct SortKey {
  std::string_view name;
  SortValue value;
};

double per_call(double sum, const TorchAverage& group) {
  return group.calls == 0 ? 0 : sum / static_cast<double>(group.calls);
}

constexpr SortKey kSortKeys[] = {
    {"self_cpu_time_total", [](const TorchAverage& g) { return g.sum.self_cpu; }},
    {"cpu_time_total", [](const TorchAverage& g) { return g.sum.cpu; }},
    {"cpu_time", [](const TorchAverage& g) { return per_call(g.sum.cpu, g); }},
    {"self_cuda_time_total", [](const TorchAverage& g) { return g.sum.self_device; }},
    {"cuda_time_total", [](const TorchAverage& g) { return g.sum.device; }},
    {"cuda_time", [](const TorchAverage& g) { return per_call(g.sum.device, g); }},
    {"self_cpu_memory_usage",
     [](const TorchAverage& g) { return static_cast<double>(g.sum.self_cpu_bytes); }},
    {"cpu_memory_usage",
     [](const TorchAverage& g) { return static_cast<double>(g.sum.cpu_bytes); }},
    {"self_cuda_memory_usage",
     [](const TorchAverage& g) { return static_cast<double>(g.sum.self_device_bytes); }},
    {"cuda_memory_usage",
     [](const TorchAverage& g) { return static_cast<double>(g.sum.device_bytes); }},
    {"count", [](const TorchAverage& g) { return static_cast<double>(g.calls); }},
    {"flops", [](const TorchAverage& g) { return static_cast<double>(g.flops); }},
};

// "self_xpu_time_total" -> "self_cuda_time_total"
std::string with_cuda(std::string key) {
  for (const std::string_view device : {"device", "xpu", "privateuse1"}) {
    const std::size_t at = key.find(device);
    if (at != std::string::npos) key.replace(at, device.size(), "cuda");
  }
  return key;
}

Error unknown_sort_key(const std::string& key) {
  Error error;
  error.code = ErrorCode::UsageError;
  error.reason = "the torch style cannot sort by \"" + safe_text(key) + "\"";
  const std::string near = nearest_spelling(key, torch_sort_keys());
  if (!near.empty()) error.hint = "did you mean \"" + near + "\"? ";
  error.hint += "valid: ";
  for (const std::string& name : torch_sort_keys()) {
    if (&name != &torch_sort_keys().front()) error.hint += ", ";
    error.hint += name;
  }
  return error;
}

// The averages with their groups sorted and their texts safe to print.
Result<TorchAverages> sorted_averages(const Trace& trace, const TorchTableRequest& request) {
  SortValue value = nullptr;
  if (!request.sort_by.empty()) {
    const std::string key = with_cuda(request.sort_by);
    for (const SortKey& known : kSortKeys) {
      if (known.name == key) value = known.value;
    }
    if (value == nullptr) return unknown_sort_key(request.sort_by);
  }
  TorchAverages averages =
      torch_averages(trace, {request.group_by_input_shape, request.group_by_stack_n});
  for (TorchAverage& group : averages.groups) {
    group.name = safe_text(group.name);
    group.shapes = safe_text(group.shapes);
    for (std::string& frame : group.stack) frame = safe_text(frame);
  }
  if (value != nullptr) {
    std::stable_sort(
        averages.groups.begin(), averages.groups.end(),
        [value](const TorchAverage& a, const TorchAverage& b) { return value(a) > value(b); });
  }
  return averages;
}

// The groups that the request wants to see.
std::vector<const TorchAverage*> shown_groups(const TorchAverages& averages,
                                              const TorchTableRequest& request) {
  std::vector<const TorchAverage*> shown;
  for (const TorchAverage& group : averages.groups) {
    if (static_cast<std::int64_t>(shown.size()) == request.row_limit) break;
    if (!request.top_level_events_only || group.top_level) shown.push_back(&group);
  }
  return shown;
}

struct Totals {
  double cpu = 0;
  double device = 0;  // of device work; ranges of the user are no work
};

Totals totals_of(const TorchAverages& averages) {
  Totals totals;
  for (const TorchAverage& group : averages.groups) {
    totals.cpu += group.sum.self_cpu;
    if (group.device && !group.annotation) totals.device += group.sum.self_device;
  }
  return totals;
}

std::vector<std::string> cells_of(const TorchAverage& group, const TorchColumns& columns,
                                  const Totals& totals, const TorchWidths& widths) {
  const TorchNumbers& sum = group.sum;
  std::vector<std::string> cells = {
      torch_name_cell(group.name, widths.name),
      torch_share(sum.self_cpu, totals.cpu),
      torch_time(sum.self_cpu),
      group.async ? "0" : torch_share(sum.cpu, totals.cpu),
      torch_time(sum.cpu),
      torch_time(per_call(sum.cpu, group)),
  };
  if (columns.device_time) {
    cells.push_back(torch_time(sum.self_device));
    cells.push_back(torch_share(sum.self_device, totals.device));
    cells.push_back(torch_time(sum.device));
    cells.push_back(torch_time(per_call(sum.device, group)));
  }
  if (columns.memory) {
    cells.push_back(torch_memory(sum.cpu_bytes));
    cells.push_back(torch_memory(sum.self_cpu_bytes));
  }
  if (columns.device_memory) {
    cells.push_back(torch_memory(sum.device_bytes));
    cells.push_back(torch_memory(sum.self_device_bytes));
  }
  cells.push_back(std::to_string(group.calls));
  if (columns.shapes) cells.emplace_back(torch_head(group.shapes, *columns.shapes));
  // PyTorch has the headings of these two the other way round, so with both of them each number
  // stands in the other's column. Whoever compares the outputs expects the same here.
  if (columns.flops) cells.push_back(torch_flops_cell(group.flops, *columns.flops));
  if (columns.source) {
    const bool known = !group.stack.empty();
    cells.push_back(known ? torch_frame_cell(group.stack.front(), *columns.source) : "");
  }
  return cells;
}

void append_line(std::string& out, std::string_view line) {
  out += line;
  out += '\n';
}

// The frames after the first, each on a line of its own, and an empty line.
void append_frames(std::string& out, const TorchAverage& group, const TorchColumns& columns) {
  std::vector<std::string> cells(columns.list.size());
  for (std::size_t i = 1; i < group.stack.size(); ++i) {
    cells.back() = torch_frame_cell(group.stack[i], *columns.source);
    append_line(out, torch_row(columns.list, cells));
  }
  cells.back().clear();
  append_line(out, torch_row(columns.list, cells));
}

std::int64_t nanos(double micros) { return std::llround(micros * 1000); }

}  // namespace

const std::vector<std::string>& torch_sort_keys() {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> names;
    for (const SortKey& key : kSortKeys) names.emplace_back(key.name);
    return names;
  }();
  return kKeys;
}

Result<std::string> torch_table(const NamedTrace& trace, const TorchTableRequest& request) {
  const Result<TorchAverages> averages = sorted_averages(trace.trace, request);
  if (!averages) return averages.error();
  if (averages->groups.empty()) return std::string();
  const TorchColumns columns = torch_columns(*averages, request.max_width);
  const Totals totals = totals_of(*averages);
  const std::string separator = torch_separator(columns.list);
  const std::string rule(torch_line_length(columns.list), '=');

  std::string out;
  if (request.header) {
    append_line(out, rule);
    append_line(out, *request.header);
  }
  if (request.top_level_events_only) {
    append_line(out, rule);
    append_line(out, "This report only display top-level ops statistics");
  }
  append_line(out, separator);
  append_line(out, torch_header(columns.list));
  append_line(out, separator);
  for (const TorchAverage* group : shown_groups(*averages, request)) {
    append_line(out, torch_row(columns.list, cells_of(*group, columns, totals, request.max_width)));
    if (columns.source) append_frames(out, *group, columns);
  }
  append_line(out, separator);
  append_line(out, "Self CPU time total: " + torch_time(totals.cpu));
  if (columns.device_time) {
    append_line(out, "Self " + averages->device_name + " time total: " + torch_time(totals.device));
  }
  return out;
}

Result<Table> torch_averages_table(const NamedTrace& trace, const TorchTableRequest& request) {
  const Result<TorchAverages> averages = sorted_averages(trace.trace, request);
  if (!averages) return averages.error();
  const TorchColumns columns = torch_columns(*averages, request.max_width);
  const Totals totals = totals_of(*averages);

  Table table;
  const auto add = [&](const char* key, std::string header, CellType type, int drop) {
    table.columns.push_back({key, std::move(header), type, Cut::Middle, drop, false});
  };
  const std::string& device = averages->device_name;
  add("name", "Name", CellType::Text, 0);
  add("side", "Side", CellType::Text, 5);
  add("calls", "Calls", CellType::Integer, 0);
  add("self_cpu_ns", "Self CPU", CellType::Duration, 0);
  add("self_cpu_percent", "Self CPU %", CellType::Percent, 2);
  add("cpu_total_ns", "CPU total", CellType::Duration, 1);
  if (columns.device_time) {
    add("self_device_ns", "Self " + device, CellType::Duration, 0);
    add("self_device_percent", "Self " + device + " %", CellType::Percent, 2);
    add("device_total_ns", device + " total", CellType::Duration, 1);
  }
  if (columns.memory) {
    add("cpu_bytes", "CPU Mem", CellType::Bytes, 4);
    add("self_cpu_bytes", "Self CPU Mem", CellType::Bytes, 3);
  }
  if (columns.device_memory) {
    add("device_bytes", device + " Mem", CellType::Bytes, 4);
    add("self_device_bytes", "Self " + device + " Mem", CellType::Bytes, 3);
  }
  if (columns.shapes) add("input_shapes", "Input Shapes", CellType::Text, 1);
  if (columns.source) add("source", "Source Location", CellType::Text, 1);
  if (columns.flops) add("flops", "FLOPs", CellType::Integer, 3);

  const auto percent = [](double part, double total) {
    return total == 0 ? Cell() : Cell(part * 100.0 / total);
  };
  for (const TorchAverage* group : shown_groups(*averages, request)) {
    const TorchNumbers& sum = group->sum;
    std::vector<Cell> row = {group->name,
                             std::string(group->device ? "device" : "host"),
                             static_cast<std::int64_t>(group->calls),
                             nanos(sum.self_cpu),
                             percent(sum.self_cpu, totals.cpu),
                             nanos(sum.cpu)};
    if (columns.device_time) {
      row.emplace_back(nanos(sum.self_device));
      row.push_back(percent(sum.self_device, totals.device));
      row.emplace_back(nanos(sum.device));
    }
    if (columns.memory) {
      row.emplace_back(sum.cpu_bytes);
      row.emplace_back(sum.self_cpu_bytes);
    }
    if (columns.device_memory) {
      row.emplace_back(sum.device_bytes);
      row.emplace_back(sum.self_device_bytes);
    }
    if (columns.shapes) row.emplace_back(group->shapes);
    if (columns.source) {
      const auto join = [](std::string text, const std::string& frame) {
        return text.empty() ? frame : std::move(text) + ";" + frame;
      };
      row.emplace_back(
          std::accumulate(group->stack.begin(), group->stack.end(), std::string(), join));
    }
    if (columns.flops) {
      const std::uint64_t most = INT64_MAX;
      row.emplace_back(static_cast<std::int64_t>(std::min(group->flops, most)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace sonde
