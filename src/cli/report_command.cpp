#include "cli/report_command.hpp"

#include <algorithm>

#include "cli/output.hpp"
#include "cli/reading.hpp"
#include "cli/usage.hpp"
#include "import/sonde_run/run_folder.hpp"
#include "report/registry.hpp"

namespace sonde {
namespace {

std::string views_text() {
  std::string out;
  for (const std::string& style : style_names()) {
    out += out.empty() ? "" : "; ";
    out += style + ": ";
    const std::vector<std::string> names = view_names(style);
    for (std::size_t i = 0; i < names.size(); ++i) out += (i ? ", " : "") + names[i];
  }
  return out;
}

std::string sort_keys_text() {
  std::string out;
  for (const ReportView& view : report_views()) {
    if (view.sort_keys.empty()) continue;
    out += (out.empty() ? "" : "; ") + (view.style == "sonde" ? "" : view.style + " ") + view.name +
           ": ";
    for (std::size_t i = 0; i < view.sort_keys.size(); ++i) {
      out += (i ? ", " : "") + view.sort_keys[i];
    }
  }
  return out;
}

}  // namespace

CommandInfo ReportCommand::info() const {
  CommandInfo info;
  info.name = "report";
  info.description = "tell what took the time, as text or data";
  info.details =
      "Reads one or more traces and prints a view of them. A folder stands for all traces in it "
      "and "
      "below it; several traces of one folder are the ranks of one run and are reported together. "
      "Files may be compressed with gzip or zstd.\n\n"
      "Without options the summary is printed: what the trace is, where the average step goes, how "
      "busy the GPUs were, the top operators and kernels, advice, and what was lost while reading.";
  info.examples = {
      {"sonde report trace.json.gz", "the summary"},
      {"sonde report run/ --view operators --sort cpu_total --limit 50",
       "the 50 longest operators"},
      {"sonde report trace.json.gz --view kernels --format csv -o kernels.csv",
       "all kernels for a spreadsheet"},
      {"sonde report trace.json.gz --style torch --sort self_cuda_time_total --limit 10",
       "the table that torch.profiler prints"},
      {"sonde report host_1.paddle_trace.json --style paddle --sort GPUTotal --view model,operator",
       "two tables of PaddlePaddle's profiler"},
      {"sonde report logs/ --style tensorboard --view operation/table",
       "what the PyTorch profiler plugin of TensorBoard answers"},
  };
  return info;
}

void ReportCommand::define(Options& options) {
  Option& paths = options.positionals(paths_, "PATH",
                                      "trace files, folders of traces, or - for "
                                      "standard input");
  paths.default_text = "the newest run below sonde-runs/";
  paths.hint = ValueHint::File;

  Option& view = options.text(request_.view, "-v,--view", "VIEW", "what to show. " + views_text());
  view.choices = all_view_names();
  view.default_text = "the style's first";

  Option& style = options.text(request_.style, "-s,--style", "STYLE", "whose layout to print in");
  style.choices = style_names();
  style.only_choices = true;
  style.default_text = "sonde";

  Option& sort =
      options.text(request_.sort, "--sort", "KEY", "order of the rows. " + sort_keys_text());
  sort.choices = all_sort_keys();
  options.flag(request_.ascending, "--ascending", "the smallest first; for style mxnet-1.5");

  Option& limit = options.integer(limit_, "-n,--limit", "N",
                                  "how many rows; 0 or -1 for all. Text and Markdown have the most "
                                  "important rows by default, CSV and JSON all");
  limit.lowest = -1;

  options.flag(request_.thread_sep, "--thread-sep",
               "operators and user ranges of each thread by itself; for style paddle");
  Option& detail = options.text(request_.op_detail, "--op-detail", "WHEN",
                                "what operators are made of, below them; for style paddle");
  detail.choices = {"on", "off"};
  detail.only_choices = true;
  detail.default_text = "on";
  Option& unit =
      options.text(request_.time_unit, "--time-unit", "UNIT", "unit of times; for style paddle");
  unit.choices = {"s", "ms", "us", "ns"};
  unit.only_choices = true;
  unit.default_text = "ms";

  Option& group = options.text(request_.group_by, "--group-by", "WHAT",
                               "tell operators apart by more than their name");
  group.choices = {"input_shape", "stack"};
  group.only_choices = true;

  Option& op = options.text(request_.op_name, "--operator", "NAME",
                            "the operator that the view operation/stack is about");
  op.default_text = "";

  Option& format = options.text(request_.format, "-f,--format", "FORMAT", "how to write it");
  format.choices = {"text", "json", "csv", "markdown"};
  format.only_choices = true;
  format.default_text = "text, json for tensorboard";

  Option& output =
      options.text(output_, "-o,--output", "FILE", "write to this file instead of standard output");
  output.hint = ValueHint::File;

  Option& color = options.text(color_, "--color", "WHEN", "colours");
  color.choices = {"auto", "always", "never"};
  color.only_choices = true;
  color.default_text = "auto: on a terminal, unless NO_COLOR is set";
}

int ReportCommand::run() {
  if (limit_ != kNoLimit) request_.limit = limit_;
  const Result<const ReportView*> view = find_view(request_);
  if (!view) return report_failure(view.error(), "report");
  if (request_.view == "operation/stack" && request_.op_name.empty()) {
    return report_failure(usage_error("view 'operation/stack' needs --operator NAME"), "report");
  }
  request_.render = render_options(color_, output_);

  if (paths_.empty()) {
    const Result<std::string> newest = newest_run();
    if (!newest) return report_failure(usage_error(newest.error().text()), "report");
    paths_.push_back(*newest);
  }
  const Result<TraceSet> traces = read_traces(paths_);
  if (!traces) return report_failure(traces.error(), "report");
  Result<std::string> text = (*view)->render(*traces, request_);
  if (!text) return report_failure(text.error(), "report");
  // The other layouts have a place for losses or say nothing but their peers' words.
  if (request_.style != "sonde" || request_.format == "csv") warn_of_losses(*traces);
  return write_output(*text, output_);
}

}  // namespace sonde
