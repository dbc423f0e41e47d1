#include "cli/dump_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/format.hpp"
#include "base/json_writer.hpp"
#include "cli/output.hpp"
#include "cli/process_argument.hpp"
#include "cli/run_sampler.hpp"
#include "cli/usage.hpp"
#include "report/safe_text.hpp"

namespace sonde {
namespace {

// A copy: the sample itself is gone with the next one.
struct ThreadDump {
  pid_t thread = 0;
  std::string name;
  bool waiting = false;
  bool holds_lock = false;
  bool uncertain = false;
  std::vector<SampledFrame> frames;
  std::vector<std::vector<LocalVariable>> locals;

  // The variables of a frame, where they are known.
  const std::vector<LocalVariable>* locals_of(std::size_t frame) const {
    if (locals.empty() || frames[frame].function->native) return nullptr;
    const auto before = static_cast<std::size_t>(
        std::count_if(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(frame),
                      [](const SampledFrame& one) { return !one.function->native; }));
    return before < locals.size() ? &locals[before] : nullptr;
  }
};

class Collector : public SampleSink {
 public:
  void add(const ThreadSample& sample) override {
    threads.push_back({sample.thread,
                       std::string(sample.name),
                       sample.waiting,
                       sample.holds_lock,
                       sample.uncertain,
                       {sample.frames.begin(), sample.frames.end()},
                       {sample.locals.begin(), sample.locals.end()}});
  }
  std::vector<ThreadDump> threads;
};

const std::string& shown_name(const FunctionInfo& function) {
  return function.qualified_name.empty() ? function.name : function.qualified_name;
}

std::string text_of(const PythonProcess& process, const std::vector<ThreadDump>& threads) {
  std::string out =
      fmt::format("Process {}: {}\nPython {} ({})\n", process.pid(), command_text(process.pid()),
                  process.runtime().layout.version.text(), safe_text(process.runtime().path));
  for (const ThreadDump& thread : threads) {
    out += fmt::format("\nThread {} \"{}\": {}{}{}\n", thread.thread, safe_text(thread.name),
                       thread.waiting ? "idle" : "busy", thread.holds_lock ? ", holds the GIL" : "",
                       thread.uncertain ? ", read while it ran" : "");
    if (thread.frames.empty()) out += "    (no Python frame)\n";
    for (std::size_t i = 0; i < thread.frames.size(); ++i) {
      const SampledFrame& frame = thread.frames[i];
      out +=
          "    " + safe_text(shown_name(*frame.function)) + " (" + safe_text(frame.function->file);
      if (frame.line > 0) out += ":" + std::to_string(frame.line);
      out += ")\n";
      const std::vector<LocalVariable>* const locals = thread.locals_of(i);
      if (!locals) continue;
      for (const LocalVariable& local : *locals) {
        out += "        " + safe_text(local.name) + " = " + safe_text(local.value) + "\n";
      }
    }
  }
  return out;
}

std::string json_of(const PythonProcess& process, const std::vector<ThreadDump>& threads) {
  JsonWriter json(JsonWriter::Layout::Indented);
  json.begin_object();
  json.member("pid", process.pid());
  json.key("command");
  json.begin_array();
  for (const std::string& word : command_of(process.pid())) json.value(word);
  json.end_array();
  json.member("python", process.runtime().layout.version.text());
  json.member("binary", process.runtime().path);
  json.key("threads");
  json.begin_array();
  for (const ThreadDump& thread : threads) {
    json.begin_object();
    json.member("thread", thread.thread);
    json.member("name", thread.name);
    json.member("busy", !thread.waiting);
    json.member("holds_gil", thread.holds_lock);
    json.member("uncertain", thread.uncertain);
    json.key("frames");
    json.begin_array();
    for (std::size_t i = 0; i < thread.frames.size(); ++i) {
      const FunctionInfo& function = *thread.frames[i].function;
      json.begin_object();
      json.member("function", function.name);
      json.member("qualified_name", shown_name(function));
      json.member("file", function.file);
      json.member("line", thread.frames[i].line);
      json.member("native", function.native);
      if (const std::vector<LocalVariable>* const locals = thread.locals_of(i)) {
        json.key("locals");
        json.begin_object();
        for (const LocalVariable& local : *locals) json.member(local.name, local.value);
        json.end_object();
      }
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.member("lost", process.stats().lost);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace

CommandInfo DumpCommand::info() const {
  CommandInfo info;
  info.name = "dump";
  info.description = "print what each thread of a running Python program is doing now";
  info.details =
      "Each thread's stack, innermost function first, whether the thread runs or waits, and which "
      "one holds the interpreter's lock. A thread that runs is stopped for some microseconds "
      "while it is read. CPython 3.8 to 3.14.";
  info.examples = {{"sonde dump 4711", "where a program hangs"},
                   {"sonde dump 4711 --locals", "with the variables of each function"},
                   {"sonde dump 4711 --json", "for a program to read"}};
  return info;
}

void DumpCommand::define(Options& options) {
  options.positional(process_, "PID", "the number of the process").required = true;
  options.flag(json_, "--json", "as JSON");
  options.flag(locals_, "--locals", "the variables of each function too");
  options.flag(native_, "--native", "C and C++ frames too");
  options.flag(no_stop_, "--no-stop", "never stop a thread while it is read");
}

int DumpCommand::run() {
  const Result<pid_t> pid = parse_process(process_);
  if (!pid) return report_failure(pid.error(), "dump");
  if (native_ && no_stop_) {
    return report_failure(usage_error("--native needs threads to stop: not with --no-stop"),
                          "dump");
  }
  SamplerOptions options = sampler_options(1, !no_stop_, native_);
  options.locals = locals_;
  ThreadStopper stopper;
  Result<std::unique_ptr<PythonProcess>> process = PythonProcess::open(*pid, options, stopper);
  if (!process) {
    print_error(process.error().text());
    return kExitFailure;
  }
  Collector collector;
  if (!(*process)->sample(collector)) {
    print_error(fmt::format("process {} ended while it was read", *pid));
    return kExitFailure;
  }
  // The interpreter has the newest thread first.
  std::reverse(collector.threads.begin(), collector.threads.end());
  const int status = write_output(
      json_ ? json_of(**process, collector.threads) : text_of(**process, collector.threads), "");
  const SamplingStats& stats = (*process)->stats();
  if (stats.lost > 0) {
    print_warning(
        fmt::format("{} could not be read",
                    format_plural(static_cast<std::int64_t>(stats.lost), "thread", "threads")));
  }
  if (stats.refused > 0) {
    print_warning(
        "threads may not be stopped (another tracer has the process, or ptrace is forbidden): "
        "they were read while they ran");
  }
  return status;
}

}  // namespace sonde
