#include <algorithm>

#include "analysis/operators.hpp"
#include "report/styles/tensorboard_parts.hpp"

namespace sonde::tensorboard {
namespace {

using Column = Nanos OperatorStats::*;

bool has_device_work(const OpTree& tree) {
  if (!tree.orphans().empty()) return true;
  return std::any_of(tree.launches().begin(), tree.launches().end(),
                     [](const LaunchNode& launch) { return launch.device_count > 0; });
}

void write_pie(JsonWriter& json, const Trace& trace, const std::vector<OperatorStats>& stats,
               Column column, std::string_view key, std::string_view title) {
  std::vector<const OperatorStats*> rows;
  for (const OperatorStats& op : stats) {
    if (op.*column > 0) rows.push_back(&op);
  }
  json.key(key);
  if (rows.empty()) {
    json.value(nullptr);
    return;
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const OperatorStats* a, const OperatorStats* b) {
    return a->*column > b->*column;
  });
  json.begin_object();
  json.member("title", title);
  json.key("columns");
  json.begin_array();
  write_column(json, "string", "name");
  write_column(json, "number", "value");
  json.end_array();
  json.key("rows");
  json.begin_array();
  for (const OperatorStats* op : rows) {
    json.begin_array();
    json.value(trace.text(op->name));
    write_microseconds(json, op->*column);
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

// The rows of a table of operators, or of the call stacks of one operator.
std::string write_table(const Trace& trace, std::vector<OperatorStats> rows, bool by_shape,
                        bool has_device, bool with_stack) {
  const Column order = has_device ? &OperatorStats::device_self : &OperatorStats::host_self;
  std::stable_sort(rows.begin(), rows.end(), [&](const OperatorStats& a, const OperatorStats& b) {
    return a.*order > b.*order;
  });
  JsonWriter json;
  const auto duration = [&](std::string_view key, Nanos time) {
    json.member(key, python_round(to_microseconds(time)));
  };
  json.begin_array();
  for (const OperatorStats& op : rows) {
    json.begin_object();
    json.member("name", trace.text(op.name));
    if (by_shape) json.member("input_shape", python_list_text(trace.text(op.shapes)));
    json.member("calls", op.calls);
    if (has_device) {
      duration("device_self_duration", op.device_self);
      duration("device_total_duration", op.device_total);
    }
    duration("host_self_duration", op.host_self);
    duration("host_total_duration", op.host_total);
    if (with_stack) {
      json.member("call_stack", trace.text(op.stack));
    } else {
      json.member("has_call_stack", op.has_stack);
    }
    json.end_object();
  }
  json.end_array();
  return json.take();
}

}  // namespace

std::string operation_pie(const Trace& trace, bool by_shape) {
  const OpTree tree(trace);
  const std::vector<OperatorStats> stats =
      operator_stats(trace, tree, by_shape ? OperatorGrouping::NameShape : OperatorGrouping::Name);
  JsonWriter json;
  json.begin_object();
  write_pie(json, trace, stats, &OperatorStats::device_total, "device_total_time",
            "Device Total Time (us)");
  write_pie(json, trace, stats, &OperatorStats::device_self, "device_self_time",
            "Device Self Time (us)");
  write_pie(json, trace, stats, &OperatorStats::host_total, "host_total_time",
            "Host Total Time (us)");
  write_pie(json, trace, stats, &OperatorStats::host_self, "host_self_time", "Host Self Time (us)");
  json.end_object();
  return json.take();
}

std::string operation_table(const Trace& trace, bool by_shape) {
  const OpTree tree(trace);
  return write_table(
      trace,
      operator_stats(trace, tree, by_shape ? OperatorGrouping::NameShape : OperatorGrouping::Name),
      by_shape, has_device_work(tree), false);
}

Result<std::string> operation_stack(const Trace& trace, const TensorboardRequest& request,
                                    bool by_shape) {
  const OpTree tree(trace);
  std::vector<OperatorStats> rows = operator_stats(
      trace, tree, by_shape ? OperatorGrouping::NameShapeStack : OperatorGrouping::NameStack);
  const std::string shape = request.input_shape.value_or("None");
  std::erase_if(rows, [&](const OperatorStats& op) {
    return trace.text(op.name) != request.op_name ||
           (by_shape && python_list_text(trace.text(op.shapes)) != shape);
  });
  if (rows.empty()) {
    return Error{ErrorCode::NotFound,
                 "no operator '" + request.op_name + "'" +
                     (by_shape ? " with input shape " + shape : std::string()),
                 {},
                 {},
                 "the view operation/table lists the operators"};
  }
  std::erase_if(rows, [](const OperatorStats& op) { return !op.stack.valid(); });
  return write_table(trace, std::move(rows), by_shape, has_device_work(tree), true);
}

}  // namespace sonde::tensorboard
