#include <algorithm>
#include <initializer_list>

#include "analysis/kernels.hpp"
#include "analysis/numpy_order.hpp"
#include "report/styles/tensorboard_parts.hpp"

namespace sonde::tensorboard {
namespace {

// By total time descending, equal ones in the plugin's order.
std::vector<KernelStats> ordered_kernels(const Trace& trace) {
  const std::vector<KernelStats> stats = kernel_stats(trace);
  std::vector<std::int64_t> totals;
  totals.reserve(stats.size());
  for (const KernelStats& kernel : stats) totals.push_back(kernel.total);
  std::vector<KernelStats> out;
  for (const std::uint32_t index : pandas_descending(totals)) out.push_back(stats[index]);
  return out;
}

double mean_us(const KernelStats& kernel) {
  return to_microseconds(kernel.total) / static_cast<double>(kernel.calls);
}

void begin_table(JsonWriter& json, std::initializer_list<std::string_view> texts) {
  json.begin_object();
  json.key("data");
  json.begin_object();
  json.key("columns");
  json.begin_array();
  for (const std::string_view name : texts) write_column(json, "string", name);
  for (const std::string_view name : {"Calls", "Total Duration (us)", "Mean Duration (us)",
                                      "Max Duration (us)", "Min Duration (us)"}) {
    write_column(json, "number", name);
  }
  json.end_array();
  json.key("rows");
  json.begin_array();
}

void end_table(JsonWriter& json) {
  json.end_array();
  json.end_object();
  json.end_object();
}

// A call outside of all operators belongs to the root of its thread's tree, which has this name.
constexpr std::string_view kThreadRoot = "CallTreeRoot";

std::string_view owner_name(const Trace& trace, const KernelOperatorStats& kernel) {
  switch (kernel.owner) {
    case KernelOwner::Operator:
      return trace.text(kernel.op);
    case KernelOwner::Thread:
      return kThreadRoot;
    case KernelOwner::Unknown:
      return "N/A";
  }
  return "";
}

}  // namespace

std::string kernel_pie(const Trace& trace) {
  JsonWriter json;
  json.begin_object();
  json.key("total");
  json.begin_object();
  json.key("columns");
  json.begin_array();
  write_column(json, "string", "name");
  write_column(json, "number", "value");
  json.end_array();
  json.key("rows");
  json.begin_array();
  for (const KernelStats& kernel : ordered_kernels(trace)) {
    json.begin_array();
    json.value(trace.text(kernel.name));
    json.value(to_microseconds(kernel.total));
    json.end_array();
  }
  json.end_array();
  json.end_object();
  json.end_object();
  return json.take();
}

std::string kernel_table(const Trace& trace) {
  JsonWriter json;
  begin_table(json, {"Name"});
  for (const KernelStats& kernel : ordered_kernels(trace)) {
    json.begin_array();
    json.value(trace.text(kernel.name));
    json.value(kernel.calls);
    write_microseconds(json, kernel.total);
    json.value(python_round(mean_us(kernel)));
    write_microseconds(json, kernel.max);
    write_microseconds(json, kernel.min);
    json.end_array();
  }
  end_table(json);
  return json.take();
}

std::string kernel_operator_table(const Trace& trace) {
  const OpTree tree(trace);
  std::vector<KernelOperatorStats> rows = kernel_operator_stats(trace, tree);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const KernelOperatorStats& a, const KernelOperatorStats& b) {
                     return a.kernel.total > b.kernel.total;
                   });
  JsonWriter json;
  begin_table(json, {"Name", "Operator"});
  for (const KernelOperatorStats& row : rows) {
    json.begin_array();
    json.value(trace.text(row.kernel.name));
    json.value(owner_name(trace, row));
    json.value(row.kernel.calls);
    write_microseconds(json, row.kernel.total);
    json.value(mean_us(row.kernel));
    // The columns say max, then min; the plugin has the values the other way round.
    write_microseconds(json, row.kernel.min);
    write_microseconds(json, row.kernel.max);
    json.end_array();
  }
  end_table(json);
  return json.take();
}

}  // namespace sonde::tensorboard
