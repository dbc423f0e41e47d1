#include "report/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/system_use.hpp"
#include "base/spelling.hpp"
#include "report/styles/mxnet.hpp"
#include "report/styles/paddle.hpp"
#include "report/styles/pstats.hpp"
#include "report/styles/python_views.hpp"
#include "report/styles/tensorboard.hpp"
#include "report/styles/tfprof.hpp"
#include "report/styles/torch.hpp"
#include "report/views/callgraph.hpp"
#include "report/views/devices.hpp"
#include "report/views/framework_ops.hpp"
#include "report/views/functions.hpp"
#include "report/views/hlo_ops.hpp"
#include "report/views/input_pipeline.hpp"
#include "report/views/kernel_stats.hpp"
#include "report/views/kernels.hpp"
#include "report/views/launches.hpp"
#include "report/views/lines.hpp"
#include "report/views/memcpy.hpp"
#include "report/views/memory.hpp"
#include "report/views/memory_lines.hpp"
#include "report/views/memory_profile.hpp"
#include "report/views/modules.hpp"
#include "report/views/objects.hpp"
#include "report/views/operators.hpp"
#include "report/views/overview.hpp"
#include "report/views/profile_choice.hpp"
#include "report/views/source.hpp"
#include "report/views/stacks.hpp"
#include "report/views/steps.hpp"
#include "report/views/summary.hpp"

namespace sonde {
namespace {

// As many frames as torch's documentation takes.
constexpr std::size_t kTorchStackFrames = 5;

const std::vector<std::string> kAllFormats = {"text", "json", "csv", "markdown"};

// Whether the traces have what the request names; run before the view is built.
using CheckRequest = Result<bool> (*)(RunTraces, const ReportRequest&);

ReportView sonde_view(std::string name, std::string description, std::vector<std::string> sort_keys,
                      std::vector<std::string> groupings, BuildDocument build,
                      CheckRequest check = nullptr, std::vector<std::string> other_sort_keys = {}) {
  return {
      "sonde",
      std::move(name),
      std::move(description),
      std::move(sort_keys),
      std::move(groupings),
      kAllFormats,
      [build, check](const TraceSet& traces, const ReportRequest& request) -> Result<std::string> {
        if (check != nullptr) {
          if (Result<bool> good = check(traces, request); !good) return good.error();
        }
        return report_documents(traces, request, build);
      },
      std::move(other_sort_keys)};
}

// One line of JSON per worker.
Result<std::string> tensorboard_lines(const TraceSet& traces, const ReportRequest& request) {
  TensorboardRequest question;
  question.view = request.view;
  if (request.group_by == "input_shape") question.group_by = "OperationAndInputShape";
  question.op_name = request.op_name;
  std::string out;
  for (const NamedTrace& named : traces) {
    question.workers = static_cast<std::size_t>(std::count_if(
        traces.begin(), traces.end(), [&](const NamedTrace& t) { return t.run == named.run; }));
    Result<std::string> line = tensorboard_view(named, question);
    if (!line) return line.error();
    out += *line + "\n";
  }
  return out;
}

ReportView tensorboard_line_view(std::string name, std::string description,
                                 std::vector<std::string> groupings = {}) {
  return {"tensorboard",        std::move(name), std::move(description), {},
          std::move(groupings), {"json"},        tensorboard_lines};
}

TorchTableRequest torch_request(const ReportRequest& request) {
  TorchTableRequest out;
  out.sort_by = request.sort;
  const bool for_programs = request.format == "json" || request.format == "csv";
  if (request.limit || for_programs) out.row_limit = request.limit.value_or(-1);
  if (out.row_limit <= 0) out.row_limit = -1;
  out.group_by_input_shape = request.group_by == "input_shape";
  if (request.group_by == "stack") out.group_by_stack_n = kTorchStackFrames;
  return out;
}

// torch's own text for one trace; for several, each under the name of its file. Other formats have
// the same rows as numbers.
Result<std::string> torch_report(const TraceSet& traces, const ReportRequest& request) {
  const TorchTableRequest question = torch_request(request);
  std::string text;
  std::vector<Document> documents;
  for (const NamedTrace& named : traces) {
    if (request.format == "text") {
      Result<std::string> table = torch_table(named, question);
      if (!table) return table.error();
      if (traces.size() > 1) text += (text.empty() ? "" : "\n") + safe_text(named.path) + "\n";
      text += *table;
      continue;
    }
    Result<Table> table = torch_averages_table(named, question);
    if (!table) return table.error();
    Document document;
    document.view = request.view;
    document.run = traces.size() > 1 ? named.path : named.run;
    document.title = named.path;
    document.csv_block = "operators";
    document.blocks.push_back(
        {"operators", "", std::move(*table), "No operators in this trace.", {}});
    document.losses = collect_losses({&named, 1});
    documents.push_back(std::move(document));
  }
  return request.format == "text" ? text
                                  : render_documents(documents, request.format, request.render);
}

// MXNet's own text or JSON for one trace; for several, one after the other, texts under the names
// of their files.
Result<std::string> mxnet_report(const TraceSet& traces, const ReportRequest& request) {
  MxnetRequest question;
  question.table = request.style == "mxnet" ? MxnetTable::Old : MxnetTable::New;
  question.sort_by = request.sort;
  question.ascending = request.ascending;
  question.row_limit = request.row_limit(SIZE_MAX);
  std::string out;
  for (const NamedTrace& named : traces) {
    if (request.format == "json") {
      out += mxnet_json(named.trace, question);
      continue;
    }
    if (traces.size() > 1) out += (out.empty() ? "" : "\n") + safe_text(named.path) + "\n";
    out += mxnet_table(named.trace, question);
  }
  return out;
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Paddle's own text for one trace; for several, each under the name of its file. What the system
// agent saw of a run stands in the device tables of its processes.
Result<std::string> paddle_report(const TraceSet& traces, const ReportRequest& request) {
  PaddleRequest question;
  question.sort_by = request.sort;
  question.op_detail = request.op_detail != "off";
  question.thread_sep = request.thread_sep;
  if (!request.time_unit.empty()) question.time_unit = request.time_unit;
  if (request.view != "summary") question.views = split_at_commas(request.view);
  question.row_limit = request.row_limit(SIZE_MAX);
  const auto is_system = [](const NamedTrace& named) { return is_system_trace(named.trace); };
  const auto shown = traces.size() - static_cast<std::size_t>(
                                         std::count_if(traces.begin(), traces.end(), is_system));
  std::string out;
  for (const NamedTrace& named : traces) {
    if (is_system(named)) continue;
    question.process_cpu.reset();
    question.system_cpu.reset();
    for (const NamedTrace& other : traces) {
      if (other.run != named.run) continue;
      if (const std::optional<SystemUse> use = system_use(other.trace)) {
        question.process_cpu = use->process_cpu / 100;
        if (use->machine_cpu) question.system_cpu = *use->machine_cpu / 100;
      }
    }
    if (shown > 1) out += (out.empty() ? "" : "\n") + safe_text(named.path) + "\n";
    out += paddle_summary(named.trace, question);
  }
  return out;
}

ReportView paddle_view(std::string name, std::string description, bool sorts) {
  ReportView view{"paddle", std::move(name), std::move(description), {},
                  {},       {"text"},        paddle_report};
  if (sorts) view.sort_keys = paddle_sort_keys();
  view.combines = true;
  return view;
}

// tfprof's own text for one trace; for several, each under the name of its file. Other formats have
// the same rows as numbers.
Result<std::string> tfprof_report(const TraceSet& traces, const ReportRequest& request) {
  const TfprofRequest question{request.sort, request.row_limit(SIZE_MAX)};
  std::string text;
  std::vector<Document> documents;
  for (const NamedTrace& named : traces) {
    if (request.format == "text") {
      if (traces.size() > 1) text += (text.empty() ? "" : "\n") + safe_text(named.path) + "\n";
      text += tfprof_table(named.trace, question);
      continue;
    }
    Document document;
    document.view = request.view;
    document.run = traces.size() > 1 ? named.path : named.run;
    document.title = named.path;
    document.csv_block = "ops";
    document.blocks.push_back(
        {"ops", "", tfprof_numbers(named.trace, question), "No operators in this trace.", {}});
    document.losses = collect_losses({&named, 1});
    documents.push_back(std::move(document));
  }
  return request.format == "text" ? text
                                  : render_documents(documents, request.format, request.render);
}

// torch takes the name of any device in place of "cuda".
std::vector<std::string> torch_other_keys() {
  std::vector<std::string> out;
  for (const std::string& key : torch_sort_keys()) {
    const std::size_t at = key.find("cuda");
    if (at == std::string::npos) continue;
    for (const char* device : {"device", "xpu", "privateuse1"}) {
      out.push_back(std::string(key).replace(at, 4, device));
    }
  }
  return out;
}

std::vector<ReportView> make_views() {
  std::vector<ReportView> views;
  views.push_back(
      sonde_view("summary", "where the time went and what to do about it", {}, {}, summary_view));
  views.push_back(sonde_view("steps", "each step and what its time went to", steps_sort_keys(), {},
                             steps_view));
  views.push_back(sonde_view("operators", "framework operators with their CPU and GPU time",
                             operators_sort_keys(), {"input_shape", "stack"}, operators_view));
  views.push_back(sonde_view("kernels", "GPU kernels", kernels_sort_keys(), {}, kernels_view));
  views.push_back(sonde_view("memcpy", "copies and memsets with their bandwidth",
                             memcpy_sort_keys(), {}, memcpy_view));
  views.push_back(
      sonde_view("modules", "host and device time by module of the network",
                 {"device_total", "device_self", "host_total", "host_self", "calls", "name"}, {},
                 modules_view));
  views.push_back(sonde_view("launches", "how long device work waited, and how much was queued", {},
                             {}, launches_view));
  views.push_back(sonde_view("devices", "GPUs, streams and host threads", devices_sort_keys(), {},
                             devices_view));
  views.push_back(sonde_view("functions", "functions with their calls and their time",
                             functions_sort_keys(), {}, functions_view, check_functions,
                             {"tottime", "time", "cumulative", "cumtime", "ncalls", "pcalls",
                              "filename", "module", "line"}));
  views.push_back(sonde_view("callgraph", "who calls each function, and whom it calls",
                             callgraph_sort_keys(), {}, callgraph_view, check_functions));
  views.push_back(sonde_view("lines", "lines of source with their hits and time", lines_sort_keys(),
                             {}, lines_view, check_lines));
  views.push_back(sonde_view("source", "one file of source, with what each line cost",
                             source_sort_keys(), {}, source_view, check_source));
  views.push_back(sonde_view("memory", "the memory of processes over time, and its peak",
                             {"peak", "last", "name"}, {}, memory_view));
  views.push_back(sonde_view("memory-lines", "allocations by line of source",
                             memory_lines_sort_keys(), {}, memory_lines_view));
  views.push_back(sonde_view("objects", "objects by type, at a moment and between two",
                             objects_sort_keys(), {}, objects_view, check_objects));
  views.push_back(sonde_view("stacks", "the heaviest call stacks", {}, {}, stacks_view));
  views.push_back(sonde_view("overview", "step time and its parts, as XProf divides it", {}, {},
                             overview_view));
  views.push_back(sonde_view("input-pipeline",
                             "what the steps waited for, and who made their input", {}, {},
                             input_pipeline_view));
  views.push_back(sonde_view("framework-ops", "operators of TensorFlow or JAX on host and device",
                             framework_ops_sort_keys(), {}, framework_ops_view));
  views.push_back(sonde_view("hlo-ops", "operations of compiled programs (XLA)",
                             hlo_ops_sort_keys(), {}, hlo_ops_view));
  views.push_back(sonde_view("kernel-stats", "kernels by launch: grid, registers, tensor cores",
                             kernel_stats_sort_keys(), {}, kernel_stats_view));
  views.push_back(sonde_view("memory-profile", "allocators, their peak and what was alive then", {},
                             {}, memory_profile_view));
  views.push_back({"torch",
                   "operators",
                   "the table of torch.profiler's key_averages()",
                   torch_sort_keys(),
                   {"input_shape", "stack"},
                   kAllFormats,
                   torch_report,
                   torch_other_keys()});
  views.push_back({"mxnet",
                   "aggregate",
                   "the aggregate statistics of MXNet 1.2 to 1.4",
                   {},
                   {},
                   {"text", "json"},
                   mxnet_report});
  views.push_back({"mxnet-1.5",
                   "aggregate",
                   "the aggregate statistics of later MXNet",
                   mxnet_sort_keys(),
                   {},
                   {"text", "json"},
                   mxnet_report,
                   {},
                   true});
  views.push_back({"tfprof",
                   "op",
                   "the op view of TensorFlow 1's profiler (tf.profiler)",
                   tfprof_sort_keys(),
                   {},
                   kAllFormats,
                   tfprof_report});
  views.push_back(tensorboard_line_view("overview", "average step and its parts"));
  views.push_back(tensorboard_line_view("operation", "operators as pie charts", {"input_shape"}));
  views.push_back(
      tensorboard_line_view("operation/table", "operators as a table", {"input_shape"}));
  views.push_back(
      tensorboard_line_view("operation/stack", "call stacks of one operator", {"input_shape"}));
  views.push_back(tensorboard_line_view("kernel/table", "kernels as a table"));
  views.push_back(tensorboard_line_view("kernel", "kernels as a pie chart"));
  views.push_back(paddle_view("summary", "all tables of PaddlePaddle's profiler", true));
  for (const std::string& table : paddle_view_names()) {
    const bool sorts = table == "operator" || table == "kernel" || table == "userdefined";
    views.push_back(paddle_view(table, "its " + table + " table", sorts));
  }
  for (ReportView& view : python_style_views()) views.push_back(std::move(view));
  return views;
}

Error wrong_usage(std::string reason) {
  Error error;
  error.code = ErrorCode::UsageError;
  error.reason = std::move(reason);
  return error;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void add_new(std::vector<std::string>& into, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (!contains(into, word)) into.push_back(word);
  }
}

// Checks one option against what the view offers.
Result<bool> check_word(const ReportView& view, const std::string& what, const std::string& word,
                        const std::vector<std::string>& offered) {
  if (word.empty() || contains(offered, word)) return true;
  const std::string where = fmt::format("view '{}' of style '{}'", view.name, view.style);
  if (offered.empty()) return wrong_usage(fmt::format("{} has no {}", where, what));
  std::string reason = unknown_word(what, word, offered);
  // A suggestion alone would hide what else this view offers.
  if (reason.find("did you mean") != std::string::npos) return wrong_usage(std::move(reason));
  return wrong_usage(fmt::format("unknown {} '{}'; {} has {}", what, word, where, join(offered)));
}

// "device,model": each must be a view of the style, and the style one that prints several. Gives
// the view that takes the list.
Result<std::string> check_view_list(const ReportRequest& request,
                                    const std::vector<std::string>& names) {
  const std::vector<ReportView>& views = report_views();
  const auto first = std::find_if(views.begin(), views.end(), [&](const ReportView& view) {
    return view.style == request.style && view.combines;
  });
  if (first == views.end()) {
    return wrong_usage(
        fmt::format("style '{}' prints one view at a time, not '{}'", request.style, request.view));
  }
  for (const std::string& name : split_at_commas(request.view)) {
    if (!contains(names, name)) return wrong_usage(unknown_word("view", name, names));
    if (name == first->name && name == "summary") {
      return wrong_usage(fmt::format("view '{}' holds all the others; ask for it alone", name));
    }
  }
  return first->name;
}

// Options that only some styles have.
Result<bool> check_options(const ReportRequest& request) {
  const auto only_for = [&](bool given, const char* options,
                            const std::vector<std::string>& styles) -> Result<bool> {
    if (!given || contains(styles, request.style)) return true;
    return wrong_usage(fmt::format("{} for style {}, not for style '{}'", options,
                                   fmt::format("'{}'", fmt::join(styles, "' and '")),
                                   request.style));
  };
  Result<bool> checked = only_for(request.thread_sep || !request.op_detail.empty(),
                                  "--thread-sep and --op-detail are", {"paddle"});
  if (checked) {
    checked = only_for(!request.time_unit.empty(), "--time-unit is", {"paddle", "line_profiler"});
  }
  if (checked) checked = only_for(request.strip_dirs, "--strip-dirs is", {"pstats"});
  if (checked) {
    checked = only_for(request.precision.has_value(), "--precision is", {"memory_profiler"});
  }
  if (checked) checked = only_for(request.skip_zero, "--skip-zero is", {"line_profiler"});
  if (checked) checked = only_for(!request.restrictions.empty(), "--restrict is", {"pstats"});
  for (const std::string& word : request.restrictions) {
    if (checked) checked = check_pstats_restriction(word);
  }
  return checked;
}

}  // namespace

const std::vector<ReportView>& report_views() {
  static const std::vector<ReportView> kViews = make_views();
  return kViews;
}

std::vector<std::string> style_names() {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) add_new(out, {view.style});
  return out;
}

std::vector<std::string> view_names(const std::string& style) {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) {
    if (view.style == style) out.push_back(view.name);
  }
  return out;
}

std::vector<std::string> all_view_names() {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) add_new(out, {view.name});
  return out;
}

std::vector<std::string> all_sort_keys() {
  std::vector<std::string> out;
  for (const ReportView& view : report_views()) add_new(out, view.sort_keys);
  return out;
}

Result<const ReportView*> find_view(ReportRequest& request) {
  const std::vector<std::string> names = view_names(request.style);
  if (names.empty()) return wrong_usage(unknown_word("style", request.style, style_names()));
  if (request.view.empty()) request.view = names.front();
  std::string wanted = request.view;
  if (request.view.find(',') != std::string::npos) {
    Result<std::string> listed = check_view_list(request, names);
    if (!listed) return listed.error();
    wanted = *listed;
  }
  const auto view = std::find_if(
      report_views().begin(), report_views().end(),
      [&](const ReportView& v) { return v.style == request.style && v.name == wanted; });
  if (view == report_views().end()) {
    if (contains(all_view_names(), request.view)) {
      return wrong_usage(fmt::format("style '{}' has no view '{}'; it has {}", request.style,
                                     request.view, join(names)));
    }
    return wrong_usage(unknown_word("view", request.view, names));
  }
  if (request.format.empty()) request.format = view->formats.front();
  if (contains(kAllFormats, request.format) && !contains(view->formats, request.format)) {
    return wrong_usage(fmt::format("style '{}' is written as {} only, not as {}", view->style,
                                   join(view->formats), request.format));
  }
  Result<bool> checked = check_word(*view, "format", request.format, view->formats);
  for (const std::string& key :
       view->many_keys ? split_at_commas(request.sort) : std::vector{request.sort}) {
    if (checked && !contains(view->other_sort_keys, key)) {
      checked = check_word(*view, "sort key", key, view->sort_keys);
    }
  }
  if (checked) checked = check_word(*view, "grouping", request.group_by, view->groupings);
  if (checked && request.ascending && !view->both_directions) {
    checked = wrong_usage(
        fmt::format("view '{}' of style '{}' has no ascending order", view->name, view->style));
  }
  if (checked) checked = check_options(request);
  if (!checked) return checked.error();
  return &*view;
}

}  // namespace sonde
