#include "server/routes.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "analysis/gpu_utilization.hpp"
#include "analysis/steps.hpp"
#include "base/json_writer.hpp"
#include "import/input/byte_source.hpp"
#include "report/styles/tensorboard.hpp"
#include "server/events_appender.hpp"
#include "server/trace_store.hpp"

namespace sonde {
namespace {

struct Route {
  std::string_view name;
  std::string_view params;
  std::string_view what;
};

constexpr std::array<Route, 10> kRoutes = {{
    {"runs", "", "the runs, as an array of names"},
    {"views", "?run=R&worker=W", "the views that a trace has"},
    {"workers", "?run=R", "the workers of a run"},
    {"overview", "?run=R&worker=W", "steps, their breakdown, advice"},
    {"operation", "?run=R&worker=W[&group_by=Operation|OperationAndInputShape]",
     "operators by time, for a pie"},
    {"operation/table", "?run=R&worker=W[&group_by=Operation|OperationAndInputShape]",
     "operators, as a table"},
    {"operation/stack",
     "?run=R&worker=W&op_name=N[&group_by=Operation|OperationAndInputShape&input_shape=S]",
     "the call stacks of an operator"},
    {"kernel", "?run=R&worker=W", "kernels by time, for a pie"},
    {"kernel/table", "?run=R&worker=W[&group_by=Kernel|KernelNameAndOpName]",
     "kernels, as a table"},
    {"trace", "?run=R&worker=W", "the trace file itself, with counters of GPU utilization"},
}};

std::string html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

HttpResponse index_page() {
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  std::string& out = response.body;
  out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Sonde</title>"
      "</head>\n<body>\n<h1>Sonde</h1>\n<p>Answers in the form of the PyTorch profiler plugin of "
      "TensorBoard:</p>\n<ul>\n";
  for (const Route& route : kRoutes) {
    const std::string path = std::string(kTensorboardPrefix) + std::string(route.name);
    out += "<li><code>";
    if (route.params.empty()) {
      out.append("<a href=\"").append(path).append("\">").append(path).append("</a>");
    } else {
      out.append(path).append(html(route.params));
    }
    out.append("</code>: ").append(html(route.what)).append("</li>\n");
  }
  out += "</ul>\n</body>\n</html>\n";
  return response;
}

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

// Tells what is wrong, and what there is instead.
HttpResponse failure(int status, const std::string& message, const char* list = nullptr,
                     const std::vector<std::string>& known = {}) {
  constexpr std::size_t kMostNames = 20;
  std::string text = message;
  if (list) {
    text += "; there ";
    text += known.size() == 1 ? "is " : "are ";
    if (known.empty()) text += "none";
    for (std::size_t i = 0; i < known.size() && i < kMostNames; ++i) {
      text += (i ? ", '" : "'") + known[i] + "'";
    }
    if (known.size() > kMostNames) text += ", …";
  }
  JsonWriter json;
  json.begin_object();
  json.member("error", text);
  if (list) {
    json.key(list);
    json.begin_array();
    for (const std::string& name : known) json.value(name);
    json.end_array();
  }
  json.end_object();
  HttpResponse response = json_response(json.take());
  response.status = status;
  return response;
}

HttpResponse failure(const Error& error) {
  switch (error.code) {
    case ErrorCode::NotFound:
      return failure(404, error.text());
    case ErrorCode::UsageError:
      return failure(400, error.text());
    default:
      return failure(500, error.text());
  }
}

std::string json_array(const std::vector<std::string>& names) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& name : names) json.value(name);
  json.end_array();
  return json.take();
}

std::vector<std::string> run_names(const std::vector<TraceFile>& files) {
  std::vector<std::string> runs;
  for (const TraceFile& file : files) {
    if (runs.empty() || runs.back() != file.run) runs.push_back(file.run);
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

std::vector<std::string> worker_names(const std::vector<TraceFile>& files, const std::string& run) {
  std::vector<std::string> workers;
  for (const TraceFile& file : files) {
    if (file.run == run) workers.push_back(file.worker);
  }
  return workers;
}

std::string views_of(const Trace& trace) {
  std::vector<std::string> views{"Overview", "Operator"};
  const IdRange<SliceId> slices = all_slices(trace);
  for (const SliceId slice : slices) {
    if (trace.slices().kind(slice) != SliceKind::Kernel) continue;
    views.emplace_back("Kernel");
    break;
  }
  views.emplace_back("Trace");
  return json_array(views);
}

// "1610366662254362" or, with a part of a microsecond, "3846906331923.644".
std::string timestamp(Nanos time) {
  const bool negative = time < 0;
  const std::uint64_t nanos =
      negative ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  std::string out = (negative ? "-" : "") + std::to_string(nanos / 1000);
  if (nanos % 1000 != 0) out += "." + std::to_string(1000 + nanos % 1000).substr(1);
  return out;
}

// Counter events of GPU utilization, with commas between them.
std::string utilization_events(const Trace& trace) {
  const OpTree tree(trace);
  const Interval window = break_down_steps(trace, tree).window();
  std::string out;
  const auto add = [&](std::int32_t device, Nanos time, const std::string& value) {
    JsonWriter json;
    json.begin_object();
    json.member("ph", "C");
    json.member("name", "GPU " + std::to_string(device) + " Utilization");
    json.member("pid", device);
    json.key("ts");
    json.raw(timestamp(time + trace.meta().origin));
    json.key("args");
    json.begin_object();
    json.key("GPU Utilization");
    json.raw(value);
    json.end_object();
    json.end_object();
    if (!out.empty()) out += ", ";
    out += json.text();
  };
  for (const UtilizationSeries& series : utilization_series(trace, window)) {
    Nanos time = series.start;
    for (const double share : series.share) {
      add(series.device, time, python_float(share));
      time += series.bucket;
    }
    add(series.device, time, "0");
  }
  return out;
}

HttpResponse trace_response(const Trace& trace, const std::string& path) {
  Result<OpenedInput> opened = open_input(path);
  if (!opened) return failure(opened.error());
  HttpResponse response;
  response.stream = [source = std::shared_ptr<ByteSource>(std::move(opened->source)),
                     events = utilization_events(trace)](const HttpResponse::Sink& sink) {
    EventsAppender appender(events, sink);
    std::vector<char> buffer(std::size_t{256} << 10);
    for (;;) {
      const Result<std::size_t> read = source->read(buffer);
      if (!read) return false;
      if (*read == 0) return appender.finish();
      if (!appender.feed({buffer.data(), *read})) return false;
    }
  };
  return response;
}

}  // namespace

class TensorboardService::State {
 public:
  explicit State(std::string log_folder) : store_(std::move(log_folder)) {}

  HttpResponse handle(const HttpRequest& request) {
    if (request.path == "/") return index_page();
    const std::string_view path = request.path;
    const std::string_view name =
        path.starts_with(kTensorboardPrefix) ? path.substr(kTensorboardPrefix.size()) : "";
    const auto route = std::find_if(kRoutes.begin(), kRoutes.end(),
                                    [&](const Route& r) { return r.name == name; });
    if (route == kRoutes.end()) {
      std::vector<std::string> known{"/"};
      for (const Route& r : kRoutes) {
        known.push_back(std::string(kTensorboardPrefix) + std::string(r.name));
      }
      return failure(404, "no route '" + request.path + "'", "routes", known);
    }
    if (name == "runs") {
      const Result<std::vector<TraceFile>> files = store_.discover();
      return files ? json_response(json_array(run_names(*files))) : failure(files.error());
    }
    return handle_run(std::string(name), request);
  }

 private:
  HttpResponse handle_run(const std::string& name, const HttpRequest& request) {
    const std::string* run = param(request, "run");
    if (!run) return failure(400, "the parameter 'run' is missing");
    Result<std::vector<TraceFile>> files = store_.files();
    if (!files) return failure(files.error());
    if (worker_names(*files, *run).empty()) files = store_.discover();  // it may be new
    if (!files) return failure(files.error());
    const std::vector<std::string> workers = worker_names(*files, *run);
    if (workers.empty()) return failure(404, "no run '" + *run + "'", "runs", run_names(*files));
    if (name == "workers") return json_response(json_array(workers));

    const std::string* worker = param(request, "worker");
    if (!worker) return failure(400, "the parameter 'worker' is missing");
    const auto file = std::find_if(files->begin(), files->end(), [&](const TraceFile& f) {
      return f.run == *run && f.worker == *worker;
    });
    if (file == files->end()) {
      return failure(404, "no worker '" + *worker + "' in run '" + *run + "'", "workers", workers);
    }
    if (name == "operation/stack" && !param(request, "op_name")) {
      return failure(400, "the parameter 'op_name' is missing");
    }
    return handle_trace(name, request, *file, workers.size());
  }

  HttpResponse handle_trace(const std::string& name, const HttpRequest& request,
                            const TraceFile& file, std::size_t workers) {
    const Result<std::shared_ptr<const Trace>> trace = store_.load(file);
    if (!trace) return failure(trace.error());
    if (name == "trace") return trace_response(**trace, file.path);
    if (name == "views") return json_response(views_of(**trace));

    TensorboardRequest question;
    question.view = name;
    question.workers = workers;
    if (const std::string* group_by = param(request, "group_by")) question.group_by = *group_by;
    // The plugin's own default for kernels is the longer table.
    if (name == "kernel/table" && question.group_by.empty()) {
      question.group_by = "KernelNameAndOpName";
    }
    if (const std::string* op = param(request, "op_name")) question.op_name = *op;
    if (const std::string* shape = param(request, "input_shape")) question.input_shape = *shape;
    return answer(*trace, question);
  }

  // Views of large traces take a while: the last ones are kept.
  HttpResponse answer(const std::shared_ptr<const Trace>& trace,
                      const TensorboardRequest& question) {
    const std::vector<std::string> key{question.view, question.group_by, question.op_name,
                                       question.input_shape.value_or(""),
                                       std::to_string(question.workers)};
    {
      const std::lock_guard lock(mutex_);
      for (const Answer& known : answers_) {
        if (known.trace.lock() == trace && known.key == key) return json_response(known.body);
      }
    }
    Result<std::string> body = tensorboard_view(*trace, question);
    if (!body) return failure(body.error());
    const std::lock_guard lock(mutex_);
    if (answers_.size() >= kMostAnswers) answers_.erase(answers_.begin());
    answers_.push_back({trace, key, *body});
    return json_response(std::move(*body));
  }

  static const std::string* param(const HttpRequest& request, const std::string& name) {
    const auto at = request.params.find(name);
    return at == request.params.end() ? nullptr : &at->second;
  }

  struct Answer {
    std::weak_ptr<const Trace> trace;
    std::vector<std::string> key;
    std::string body;
  };
  static constexpr std::size_t kMostAnswers = 32;

  TraceStore store_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
};

TensorboardService::TensorboardService(std::string log_folder)
    : state_(std::make_unique<State>(std::move(log_folder))) {}
TensorboardService::~TensorboardService() = default;

HttpResponse TensorboardService::handle(const HttpRequest& request) {
  return state_->handle(request);
}

}  // namespace sonde
