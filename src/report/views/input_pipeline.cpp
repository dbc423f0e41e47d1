#include "report/views/input_pipeline.hpp"

#include <array>

#include "analysis/input_pipeline.hpp"
#include "report/views/rows.hpp"

namespace sonde {
namespace {

constexpr std::size_t kSensibleRows = 20;

Block steps_block(const NamedTrace& named, const StepParts& steps, const ReportRequest& request,
                  const std::string& ending) {
  Block out;
  out.id = "steps" + ending;
  out.title = ending.empty() ? "Steps" : "Steps of " + trace_label(named);
  out.when_empty =
      "No step time: no steps are marked in this trace, or nothing was computed in them.";
  for (const std::string& verdict : step_verdicts(steps)) out.notes.push_back(verdict);
  Table table;
  const auto part = [](std::string key, std::string header) {
    return Column{.key = std::move(key),
                  .header = std::move(header),
                  .type = CellType::Duration,
                  .hide_zero = true};
  };
  table.columns = {{.key = "step", .header = "Step"},
                   part("device_compute_ns", "Compute"),
                   part("device_to_device_ns", "Dev to dev"),
                   part("device_collectives_ns", "Collectives"),
                   part("host_compute_ns", "Host"),
                   part("kernel_launch_ns", "Launch"),
                   part("input_ns", "Input"),
                   part("output_ns", "Output"),
                   part("compile_ns", "Compile"),
                   part("other_ns", "Others"),
                   {.key = "step_ns", .header = "Step time", .type = CellType::Duration},
                   {.key = "input_percent", .header = "Input", .type = CellType::Percent}};
  std::vector<std::vector<Cell>> rows;
  for (const PartedStep& step : steps.steps) {
    std::vector<Cell> row = {step.name};
    for (const Nanos time : step.parts) row.push_back(time_cell(time));
    row.push_back(time_cell(step.span.length()));
    row.push_back(
        share_cell(step.parts[static_cast<std::size_t>(StepPart::Input)], step.span.length()));
    rows.push_back(std::move(row));
  }
  cut_rows(rows, request, kSensibleRows, out);
  table.rows = std::move(rows);
  out.content = std::move(table);
  return out;
}

Block ops_block(const std::vector<InputOp>& ops, const ReportRequest& request,
                const std::string& ending) {
  Block out;
  out.id = "input_ops" + ending;
  out.title = "Input operators on the host";
  out.when_empty = "No operators of an input pipeline (tf.data, data loader) in this trace.";
  Picos whole = 0;
  for (const InputOp& op : ops) whole += op.self;
  Table table;
  table.columns = {
      {.key = "name", .header = "Operator", .cut = Cut::Middle, .least = 24},
      {.key = "count", .header = "Count", .type = CellType::Integer},
      {.key = "total_ns", .header = "Total", .type = CellType::Duration},
      {.key = "total_percent", .header = "Share", .type = CellType::Percent, .drop = 1},
      {.key = "self_ns", .header = "Self", .type = CellType::Duration},
      {.key = "self_percent", .header = "Share", .type = CellType::Percent},
      {.key = "category", .header = "Category"}};
  std::vector<std::vector<Cell>> rows;
  for (const InputOp& op : ops) {
    rows.push_back({text_cell(op.name), count_cell(op.count),
                    picos_cell(static_cast<double>(op.total)), share_cell(op.total, whole),
                    picos_cell(static_cast<double>(op.self)), share_cell(op.self, whole),
                    text_cell(input_category_name(op.category))});
  }
  cut_rows(rows, request, kSensibleRows, out);
  table.rows = std::move(rows);
  out.content = std::move(table);
  return out;
}

Block categories_block(const std::vector<InputOp>& ops, const std::string& ending) {
  constexpr std::array kCategories = {InputCategory::Enqueue, InputCategory::DemandedFileRead,
                                      InputCategory::AdvancedFileRead,
                                      InputCategory::Preprocessing};
  std::array<Picos, kCategories.size()> self{};
  Picos whole = 0;
  for (const InputOp& op : ops) {
    self[static_cast<std::size_t>(op.category)] += op.self;
    whole += op.self;
  }
  Block out;
  out.id = "input_categories" + ending;
  out.title = "Input time on the host";
  Table table;
  table.columns = {{.key = "category", .header = "Category"},
                   {.key = "self_ns", .header = "Time", .type = CellType::Duration},
                   {.key = "percent", .header = "Share", .type = CellType::Percent, .bar = true}};
  if (whole > 0) {
    for (std::size_t i = 0; i < kCategories.size(); ++i) {
      table.rows.push_back({text_cell(input_category_name(kCategories[i])),
                            picos_cell(static_cast<double>(self[i])), share_cell(self[i], whole)});
    }
  }
  out.content = std::move(table);
  return out;
}

}  // namespace

Document input_pipeline_view(RunTraces traces, const ReportRequest& request) {
  Document out;
  out.view = "input-pipeline";
  out.title = view_title("Input pipeline", traces, "each by itself");
  for (const NamedTrace& named : traces) {
    const std::string ending = traces.size() > 1 ? " " + trace_label(named) : "";
    const std::vector<InputOp> ops = input_ops(framework_ops(named.trace));
    out.blocks.push_back(steps_block(named, step_parts(named.trace), request, ending));
    if (!ops.empty()) out.blocks.push_back(categories_block(ops, ending));
    out.blocks.push_back(ops_block(ops, request, ending));
  }
  return out;
}

}  // namespace sonde
