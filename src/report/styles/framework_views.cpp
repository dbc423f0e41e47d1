#include "report/styles/framework_views.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analysis/system_use.hpp"
#include "base/split.hpp"
#include "report/styles/each_trace.hpp"
#include "report/styles/mxnet.hpp"
#include "report/styles/paddle.hpp"
#include "report/styles/tensorboard.hpp"
#include "report/styles/tfprof.hpp"
#include "report/styles/torch.hpp"

namespace sonde {
namespace {

// As many frames as torch's documentation takes.
constexpr std::size_t kTorchStackFrames = 5;

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

Result<std::string> torch_report(const TraceSet& traces, const ReportRequest& request) {
  const TorchTableRequest question = torch_request(request);
  if (request.format == "text") {
    return each_trace(traces,
                      [&](const NamedTrace& named) { return torch_table(named, question); });
  }
  return each_table(traces, request, "operators",
                    [&](const NamedTrace& named) { return torch_averages_table(named, question); });
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

Result<std::string> mxnet_report(const TraceSet& traces, const ReportRequest& request) {
  MxnetRequest question;
  question.table = request.style == "mxnet" ? MxnetTable::Old : MxnetTable::New;
  question.sort_by = request.sort;
  question.ascending = request.ascending;
  question.row_limit = request.row_limit(SIZE_MAX);
  if (request.format == "json") {
    std::string out;
    for (const NamedTrace& named : traces) out += mxnet_json(named.trace, question);
    return out;
  }
  return each_trace(traces, [&](const NamedTrace& named) -> Result<std::string> {
    return mxnet_table(named.trace, question);
  });
}

Result<std::string> tfprof_report(const TraceSet& traces, const ReportRequest& request) {
  const TfprofRequest question{request.sort, request.row_limit(SIZE_MAX)};
  if (request.format == "text") {
    return each_trace(traces, [&](const NamedTrace& named) -> Result<std::string> {
      return tfprof_table(named.trace, question);
    });
  }
  return each_table(traces, request, "ops", [&](const NamedTrace& named) -> Result<Table> {
    return tfprof_numbers(named.trace, question);
  });
}

// Paddle's own text for one trace; for several, each under the name of its file. What the system
// agent saw of a run stands in the device tables of its processes.
Result<std::string> paddle_report(const TraceSet& traces, const ReportRequest& request) {
  PaddleRequest question;
  question.sort_by = request.sort;
  question.op_detail = request.op_detail != "off";
  question.thread_sep = request.thread_sep;
  if (!request.time_unit.empty()) question.time_unit = request.time_unit;
  if (request.view != "summary") question.views = split(request.view, ',');
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

}  // namespace

std::vector<ReportView> framework_style_views() {
  std::vector<ReportView> views;
  views.push_back({"torch",
                   "operators",
                   "the table of torch.profiler's key_averages()",
                   torch_sort_keys(),
                   {"input_shape", "stack"},
                   all_formats(),
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
                   all_formats(),
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
  return views;
}

}  // namespace sonde
