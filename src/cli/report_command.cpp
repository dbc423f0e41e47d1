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

Result<bool> ReportCommand::keep_asked(TraceSet& traces) const {
  if (process_.empty() && rank_ == kAnyRank) return true;
  std::string known;
  std::erase_if(traces, [&](const NamedTrace& named) {
    const std::int64_t own = named.trace.meta().rank;
    const bool process = process_.empty() || is_process(named.trace, named.worker, process_);
    const bool rank = rank_ == kAnyRank || own == rank_;
    if (!process || !rank) {
      const std::string name =
          rank_ != kAnyRank && own >= 0 ? "rank " + std::to_string(own) : named.worker;
      known += (known.empty() ? "" : ", ") + name;
    }
    return !process || !rank;
  });
  if (!traces.empty()) return true;
  return Error{ErrorCode::NoTraces,
               process_.empty() ? "no trace of rank " + std::to_string(rank_)
                                : "no process '" + process_ + "' in what was read",
               {},
               {},
               "there is " + known};
}

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
      {"sonde report train.prof --style pstats --sort cumulative --strip-dirs --limit 20",
       "what Python's pstats prints"},
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
  options.flag(request_.ascending, "--ascending",
               "the smallest first; for styles mxnet-1.5 and pympler");

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
  Option& unit = options.text(request_.time_unit, "--time-unit", "UNIT",
                              "unit of times; for styles paddle and line_profiler");
  unit.choices = {"s", "ms", "us", "ns"};
  unit.only_choices = true;
  unit.default_text = "ms, us for line_profiler";
  options.flag(request_.strip_dirs, "--strip-dirs",
               "file names without their folders; for style pstats");
  options.texts(request_.restrictions, "--restrict", "WHAT",
                "which functions: a number of them, a share (0.1) or a regular expression; may be "
                "given several times; for style pstats");
  Option& precision =
      options.integer(precision_, "--precision", "N",
                      "digits of memory behind the point; for style memory_profiler");
  precision.lowest = 0;
  precision.highest = 9;
  precision.default_text = "1";
  options.flag(request_.skip_zero, "--skip-zero",
               "without functions that took no time; for style line_profiler");

  Option& group = options.text(request_.group_by, "--group-by", "WHAT",
                               "tell operators apart by more than their name");
  group.choices = {"input_shape", "stack"};
  group.only_choices = true;

  options.text(
      request_.filter, "--filter", "TEXT",
      "only rows with this text in the name of a function, a file, a module or a type; for "
      "functions, callgraph, lines, stacks, source, memory, memory-lines and objects");
  Option& from = options.text(request_.from, "--from", "SOURCE",
                              "what functions and lines are made of, where there is a choice");
  from.choices = {"calls", "samples", "slices"};
  from.only_choices = true;
  from.default_text = "exact sums of calls, else samples, else slices";
  Option& weight = options.text(request_.weight, "--weight", "COST",
                                "which cost functions, lines and stacks are shown by, where there "
                                "are several: wall, cpu, gil, idle, ...");
  weight.choices = {"wall", "cpu", "gil", "idle"};
  weight.default_text = "the first one";
  Option& source =
      options.text(request_.file, "--file", "FILE", "the file that the view source shows");
  source.hint = ValueHint::File;
  source.default_text = "a list of the files";
  Option& snapshot = options.text(request_.snapshot, "--snapshot", "LABEL",
                                  "which snapshot the view objects shows: its label or number");
  snapshot.default_text = "the last one";
  options.text(request_.against, "--against", "LABEL",
               "the snapshot that it is compared with, in the view objects");
  Option& process = options.text(process_, "--process", "PROCESS",
                                 "only this process of a run: its pid, or the name of its file");
  process.default_text = "all of them together";
  Option& rank = options.integer(rank_, "--rank", "N", "only this rank of a run");
  rank.lowest = 0;
  rank.default_text = "all of them together";

  Option& op = options.text(request_.op_name, "--operator", "NAME",
                            "the operator that the view operation/stack is about");
  op.default_text = "";

  Option& format = options.text(request_.format, "-f,--format", "FORMAT", "how to write it");
  format.choices = {"text", "json", "csv", "markdown"};
  format.only_choices = true;
  format.default_text = "text, json for tensorboard";

  define_output(options, output_, color_);
}

int ReportCommand::run() {
  if (limit_ != kNoLimit) request_.limit = limit_;
  if (precision_ != kNoLimit) request_.precision = precision_;
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
  Result<TraceSet> traces = read_traces(paths_);
  if (!traces) return report_failure(traces.error(), "report");
  if (const Result<bool> kept = keep_asked(*traces); !kept) {
    return report_failure(kept.error(), "report");
  }
  Result<std::string> text = (*view)->render(*traces, request_);
  if (!text) return report_failure(text.error(), "report");
  // The other layouts have a place for losses or say nothing but their peers' words.
  if (request_.style != "sonde" || request_.format == "csv") warn_of_losses(*traces);
  return write_output(*text, output_);
}

}  // namespace sonde
