#include "report/views/overview.hpp"

#include "analysis/framework_ops.hpp"
#include "analysis/input_pipeline.hpp"
#include "analysis/step_parts.hpp"
#include "analysis/trace_facts.hpp"
#include "report/views/rows.hpp"
#include "report/views/step_part_names.hpp"

namespace sonde {
namespace {

constexpr std::size_t kTopOps = 10;

std::string block_id(const std::string& id, const NamedTrace& named, bool several) {
  return several ? id + " " + trace_label(named) : id;
}

Block facts_block(const NamedTrace& named, const StepParts& steps, const FrameworkOps& ops,
                  bool several) {
  Block out;
  out.id = block_id("overview", named, several);
  out.title = several ? "Overview of " + trace_label(named) : "Overview";
  Facts facts;
  const auto duration = [&](std::string key, std::string label, double nanos) {
    facts.push_back({std::move(key), std::move(label), time_cell(nanos), CellType::Duration, {}});
  };
  const auto percent = [&](std::string key, std::string label, double part, double whole) {
    if (whole > 0)
      facts.push_back(
          {std::move(key), std::move(label), share_cell(part, whole), CellType::Percent, {}});
  };
  facts.push_back({"steps", "Steps", count_cell(steps.steps.size()), CellType::Integer, {}});
  if (!steps.steps.empty()) {
    duration("step_ns_average", "Average step", steps.average_total());
    duration("step_ns_deviation", "Standard deviation", steps.deviation_total());
    Nanos least = steps.steps[0].span.length();
    Nanos most = least;
    Nanos half = 0;
    for (const PartedStep& step : steps.steps) {
      least = std::min(least, step.span.length());
      most = std::max(most, step.span.length());
      half += step.compute_16_bit;
    }
    duration("step_ns_min", "Shortest step", static_cast<double>(least));
    duration("step_ns_max", "Longest step", static_cast<double>(most));
    percent("compute_16_bit_percent", "16-bit part of the device's computing",
            static_cast<double>(half), static_cast<double>(steps.sum(StepPart::DeviceCompute)));
  }
  const auto device_self = static_cast<double>(ops.device_self);
  const auto device_idle = static_cast<double>(ops.device_idle);
  if (ops.device_self > 0)
    percent("device_idle_percent", "Device idle, first to last work", device_idle,
            device_self + device_idle);
  percent("host_ops_percent", "Operators on the host, of all operator time",
          static_cast<double>(ops.host_self), device_self + static_cast<double>(ops.host_self));
  out.content = std::move(facts);
  for (const std::string& verdict : step_verdicts(steps)) out.notes.push_back(verdict);
  if (steps.left_out > 0) {
    out.notes.push_back(format_plural(static_cast<std::int64_t>(steps.left_out), "step", "steps") +
                        " left out: nothing was computed in it.");
  }
  return out;
}

// Where the framework left no operators, what was compiled from them.
void add_compiled(const Trace& trace, Table& table) {
  const HloOps ops = hlo_ops(trace);
  Picos sum = 0;
  for (const HloOp& op : ops.ops) {
    if (table.rows.size() == kTopOps) break;
    sum += op.self;
    table.rows.push_back({share_cell(op.self, ops.self), share_cell(sum, ops.self),
                          text_cell(op.category.empty() ? "HLO" : op.category), text_cell(op.name),
                          op.flops > 0 && op.total > 0
                              ? Cell(op.flops / (static_cast<double>(op.total) * 1e-12) / 1e9)
                              : Cell(0.0)});
  }
}

Block top_ops_block(const NamedTrace& named, const FrameworkOps& ops, bool several) {
  Block out;
  out.id = block_id("top_operations", named, several);
  out.title = "Top operators";
  out.when_empty = "No operators of a framework in this trace.";
  Table table;
  table.columns = {
      {.key = "self_percent", .header = "Time", .type = CellType::Percent},
      {.key = "cumulative_percent", .header = "Cumul.", .type = CellType::Percent},
      {.key = "category", .header = "Type", .cut = Cut::Middle},
      {.key = "operation", .header = "Operator", .cut = Cut::Middle, .least = 24},
      {.key = "gflops_per_s", .header = "GFLOP/s", .type = CellType::Real, .hide_zero = true}};
  if (!has_times(named.trace)) {
    out.when_empty = "This trace has no times, so none of its operators is known to be long.";
    out.content = std::move(table);
    return out;
  }
  if (ops.ops.empty()) add_compiled(named.trace, table);
  // Where a device computes, its operators count; else those of the host.
  const bool device = ops.device_self > 0;
  const Picos whole = device ? ops.device_self : ops.host_self;
  Picos sum = 0;
  for (const FrameworkOp& op : ops.ops) {
    if (op.on_device != device || table.rows.size() == kTopOps) continue;
    sum += op.self;
    table.rows.push_back({share_cell(op.self, whole), share_cell(sum, whole), text_cell(op.type),
                          text_cell(op.name),
                          op.flops > 0 && op.total > 0
                              ? Cell(op.flops / (static_cast<double>(op.total) * 1e-12) / 1e9)
                              : Cell(0.0)});
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

Block step_parts_block(const NamedTrace& named, bool several, bool all_parts) {
  const StepParts steps = step_parts(named.trace);
  Block out;
  out.id = block_id("step_parts", named, several);
  out.title = "Average step";
  out.when_empty =
      "No step time: no steps are marked in this trace, or nothing was computed in them.";
  Table table;
  table.columns = {{.key = "part", .header = "Spent on"},
                   {.key = "average_ns", .header = "Average", .type = CellType::Duration},
                   {.key = "deviation_ns", .header = "Deviation", .type = CellType::Duration},
                   {.key = "percent", .header = "Share", .type = CellType::Percent, .bar = true}};
  if (!steps.steps.empty()) {
    for (std::size_t i = 0; i < kStepPartCount; ++i) {
      const auto part = static_cast<StepPart>(i);
      if (!all_parts && steps.average(part) <= 0) continue;
      table.rows.push_back({text_cell(step_part_name(part)), time_cell(steps.average(part)),
                            time_cell(steps.deviation(part)),
                            share_cell(steps.average(part), steps.average_total())});
    }
  }
  out.content = std::move(table);
  return out;
}

Document overview_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "overview";
  out.title = view_title("Overview", traces, "each by itself");
  const bool several = traces.size() > 1;
  for (const NamedTrace& named : traces) {
    const StepParts steps = step_parts(named.trace);
    const FrameworkOps ops = has_times(named.trace) ? framework_ops(named.trace) : FrameworkOps();
    out.blocks.push_back(facts_block(named, steps, ops, several));
    out.blocks.push_back(step_parts_block(named, several, request.for_programs()));
    out.blocks.push_back(top_ops_block(named, ops, several));
  }
  return out;
}

}  // namespace sonde
