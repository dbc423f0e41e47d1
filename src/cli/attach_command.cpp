#include "cli/attach_command.hpp"

#include <fmt/format.h>
#include <string.h>

#include <cerrno>
#include <optional>

#include "base/format.hpp"
#include "base/write_error.hpp"
#include "cli/output.hpp"
#include "cli/process_argument.hpp"
#include "cli/run_folder_writer.hpp"
#include "cli/run_sampler.hpp"
#include "cli/run_summary.hpp"
#include "cli/size_option.hpp"
#include "cli/usage.hpp"
#include "report/safe_text.hpp"
#include "sampler/sample_file.hpp"
#include "system/system_agent.hpp"

namespace sonde {
namespace {

constexpr const char* kDefaultMaxSize = "1G";
constexpr std::uint64_t kAgentEvery = 100'000'000;

// What was written in all, also by processes that ended.
struct Totals {
  std::uint64_t processes = 0;
  std::uint64_t samples = 0;
  std::uint64_t written = 0;
  std::uint64_t left_out = 0;
  std::uint64_t lost = 0;
};

class CountedFile : public SampleFile {
 public:
  CountedFile(const PythonProcess& process, const SamplerOptions& sampling,
              const SampleFileOptions& options, Totals& totals)
      : SampleFile(process, sampling, options), totals_(totals) {}

  void tell(const PythonProcess& process, const SamplingStats& stats, double rate,
            std::uint64_t own_cpu_nanos, bool ended) override {
    SampleFile::tell(process, stats, rate, own_cpu_nanos, ended);
    if (!ended) return;
    ++totals_.processes;
    totals_.samples += stats.samples;
    totals_.written += written();
    totals_.left_out += left_out();
    totals_.lost += stats.lost;
  }

 private:
  Totals& totals_;
};

}  // namespace

CommandInfo AttachCommand::info() const {
  CommandInfo info;
  info.name = "attach";
  info.description = "sample a Python program that runs already, without a restart";
  info.details =
      "Reads the stacks of all threads of process PID, and of its Python children, from outside: "
      "nothing is loaded into it and its code is not changed. A thread that runs is stopped for "
      "some microseconds while it is read, so that its stack is exact; with --no-stop it runs on, "
      "and such samples are marked as uncertain.\n\n"
      "Ends after --duration, with Ctrl-C or with the process, and then prints the summary. The "
      "process goes on in any case, also where Sonde is killed. CPython 3.8 to 3.14.";
  info.examples = {
      {"sonde attach 4711 --duration 10", "ten seconds of a running program"},
      {"sonde attach 4711 --native --idle", "with C frames, and with threads that wait"},
      {"sonde report --view functions", "the newest run again, by function"}};
  return info;
}

void AttachCommand::define(Options& options) {
  options.positional(process_, "PID", "the number of the process").required = true;
  options.text(duration_, "-d,--duration", "SECONDS", "end after this time").default_text =
      "until Ctrl-C";
  Option& often = options.integer(rate_, "-r,--rate", "HZ", "samples of each thread a second");
  often.default_text = "100";
  often.lowest = 1;
  often.highest = 1000;
  Option& output = options.text(output_, "-o,--output", "DIR", "folder for the run");
  output.hint = ValueHint::Folder;
  output.default_text = "sonde-runs/PROGRAM-TIME/";
  options.flag(native_, "--native", "C and C++ frames too");
  options.flag(no_stop_, "--no-stop",
               "never stop a thread while it is read: samples are less exact, and marked so");
  options.flag(idle_, "--idle", "threads that wait too; without it only those that run");
  options.flag(no_children_, "--no-children", "this process alone, not its Python children");
  options
      .text(max_size_, "--max-size", "SIZE",
            "write no more than this for a process (K, M, G); 0 for no limit")
      .default_text = kDefaultMaxSize;
  options.flag(quiet_, "-q,--quiet", "print neither the summary nor the place of the run");
  options.flag(force_, "--force", "replace the run that lies in the folder");
}

int AttachCommand::run() {
  const Result<pid_t> process = parse_process(process_);
  if (!process) return report_failure(process.error(), "attach");
  double seconds = 0;
  if (!duration_.empty()) {
    const Result<double> parsed = parse_seconds("--duration", duration_);
    if (!parsed) return report_failure(parsed.error(), "attach");
    seconds = *parsed;
  }
  const Result<std::uint64_t> max_bytes =
      size_option("--max-size", max_size_.empty() ? kDefaultMaxSize : max_size_);
  if (!max_bytes) return report_failure(max_bytes.error(), "attach");
  if (native_ && no_stop_) {
    return report_failure(usage_error("--native needs threads to stop: not with --no-stop"),
                          "attach");
  }

  // The process is looked at before anything is written.
  const LiveMemory memory(*process);
  if (const Result<PythonRuntime> python = find_python(*process, memory); !python) {
    print_error(python.error().text());
    return kExitFailure;
  }
  const std::vector<std::string> command = command_of(*process);
  const Result<RunFolderWriter> folder = RunFolderWriter::begin(output_, command, force_);
  if (!folder) {
    print_error(folder.error().text());
    return kExitFailure;
  }

  SamplerOptions sampling = sampler_options(static_cast<double>(rate_), !no_stop_, native_);
  sampling.children = !no_children_;
  Totals totals;
  int write_failure = 0;
  PythonSampler sampler(
      *process, sampling,
      [&](const PythonProcess& found) -> std::unique_ptr<ProcessSink> {
        auto file = std::make_unique<CountedFile>(
            found, sampling, SampleFileOptions{folder->full_path(), *max_bytes, idle_}, totals);
        if (file->error() == 0) return file;
        write_failure = file->error();
        return nullptr;
      },
      [](const Error& error) { print_warning(error.text()); });
  if (const std::optional<Error> error = sampler.open_root()) {
    folder->remove();
    print_error(error->text());
    return kExitFailure;
  }
  if (write_failure != 0) {
    folder->remove();
    print_error(write_error("cannot write samples", folder->path(), write_failure).text());
    return kExitFailure;
  }

  if (!quiet_ && seconds == 0) {
    print_note(fmt::format("sampling process {}; Ctrl-C ends it", *process));
  }
  const std::atomic<bool>& stop = stop_on_signals();
  SystemAgent agent(folder->full_path() + "/system.sonde", command.front(), *process);
  const std::uint64_t start = monotonic_nanos();
  const std::uint64_t end = seconds > 0 ? start + static_cast<std::uint64_t>(seconds * 1e9) : 0;
  std::uint64_t next_agent = 0;
  sampler.run(stop, end, [&] {
    const std::uint64_t now = monotonic_nanos();
    if (now < next_agent) return;
    agent.sample();
    next_agent = now + kAgentEvery;
  });
  const double passed = static_cast<double>(monotonic_nanos() - start) / 1e9;
  const double rate = sampler.actual_rate();
  const bool ended = !sampler.alive();
  sampler.finish();
  agent.finish();
  if (quiet_) return kExitOk;
  print_run_summary(folder->path());
  if (totals.written == 0 && totals.left_out > 0) {
    print_note("all threads waited all the time: --idle records them too");
  }
  write_error_output(fmt::format(
      "sonde: {} of process {} in {:.1f} s ({:.1f} rounds/s, {} lost); {}; the run lies in {}\n",
      format_plural(static_cast<std::int64_t>(totals.samples), "sample", "samples"), *process,
      passed, rate, totals.lost, ended ? "it ended" : "it goes on", safe_text(folder->path())));
  return kExitOk;
}

}  // namespace sonde
