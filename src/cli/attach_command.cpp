#include "cli/attach_command.hpp"

#include <fmt/format.h>

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

// What the options ask for.
struct AttachCommand::Wish {
  pid_t process = 0;
  double seconds = 0;  // 0: until somebody ends it
  std::uint64_t max_bytes = 0;
};

// How it went.
struct AttachCommand::Outcome {
  Totals totals;
  double seconds = 0;
  double rounds_per_second = 0;
  bool process_ended = false;
};

Result<AttachCommand::Wish> AttachCommand::read_options() const {
  Wish wish;
  const Result<pid_t> process = parse_process(process_);
  if (!process) return process.error();
  wish.process = *process;
  if (!duration_.empty()) {
    const Result<double> seconds = parse_seconds("--duration", duration_);
    if (!seconds) return seconds.error();
    wish.seconds = *seconds;
  }
  const Result<std::uint64_t> max_bytes =
      size_option("--max-size", max_size_.empty() ? kDefaultMaxSize : max_size_);
  if (!max_bytes) return max_bytes.error();
  wish.max_bytes = *max_bytes;
  if (native_ && no_stop_) {
    return usage_error("--native needs threads to stop: not with --no-stop");
  }
  return wish;
}

Result<AttachCommand::Outcome> AttachCommand::record(const Wish& wish, const std::string& program,
                                                     const RunFolderWriter& folder) const {
  SamplerOptions sampling = sampler_options(static_cast<double>(rate_), !no_stop_, native_);
  sampling.children = !no_children_;
  Outcome out;
  int write_failure = 0;
  PythonSampler sampler(
      wish.process, sampling,
      [&](const PythonProcess& found) -> std::unique_ptr<ProcessSink> {
        auto file = std::make_unique<CountedFile>(
            found, sampling, SampleFileOptions{folder.full_path(), wish.max_bytes, idle_},
            out.totals);
        if (file->error() == 0) return file;
        write_failure = file->error();
        return nullptr;
      },
      [](const Error& error) { print_warning(error.text()); });
  if (const std::optional<Error> error = sampler.open_root()) return *error;
  if (write_failure != 0) {
    return write_error("cannot write samples", folder.path(), write_failure);
  }

  if (!quiet_ && wish.seconds == 0) {
    print_note(fmt::format("sampling process {}; Ctrl-C ends it", wish.process));
  }
  const std::atomic<bool>& stop = stop_on_signals();
  SystemAgent agent(folder.full_path() + "/system.sonde", program, wish.process);
  const std::uint64_t start = monotonic_nanos();
  const std::uint64_t end =
      wish.seconds > 0 ? start + static_cast<std::uint64_t>(wish.seconds * 1e9) : 0;
  std::uint64_t next_agent = 0;
  sampler.run(stop, end, [&] {
    const std::uint64_t now = monotonic_nanos();
    if (now < next_agent) return;
    agent.sample();
    next_agent = now + kAgentEvery;
  });
  out.seconds = static_cast<double>(monotonic_nanos() - start) / 1e9;
  out.rounds_per_second = sampler.actual_rate();
  out.process_ended = !sampler.alive();
  sampler.finish();
  agent.finish();
  return out;
}

void AttachCommand::tell(const Wish& wish, const Outcome& outcome,
                         const RunFolderWriter& folder) const {
  print_run_summary(folder.path());
  const Totals& totals = outcome.totals;
  if (totals.written == 0 && totals.left_out > 0) {
    print_note("all threads waited all the time: --idle records them too");
  }
  write_error_output(fmt::format(
      "sonde: {} of process {} in {:.1f} s ({:.1f} rounds/s, {} lost); {}; the run lies in {}\n",
      format_plural(static_cast<std::int64_t>(totals.samples), "sample", "samples"), wish.process,
      outcome.seconds, outcome.rounds_per_second, totals.lost,
      outcome.process_ended ? "it ended" : "it goes on", safe_text(folder.path())));
}

int AttachCommand::run() {
  const Result<Wish> wish = read_options();
  if (!wish) return report_failure(wish.error(), "attach");
  const auto fail = [](const Error& error) {
    print_error(error.text());
    return kExitFailure;
  };
  // The process is looked at before anything is written.
  const LiveMemory memory(wish->process);
  if (const Result<PythonRuntime> python = find_python(wish->process, memory); !python) {
    return fail(python.error());
  }
  const std::vector<std::string> command = command_of(wish->process);
  const Result<RunFolderWriter> folder = RunFolderWriter::begin(output_, command, force_);
  if (!folder) return fail(folder.error());
  const Result<Outcome> outcome = record(*wish, command.front(), *folder);
  if (!outcome) {
    folder->remove();
    return fail(outcome.error());
  }
  if (!quiet_) tell(*wish, *outcome, *folder);
  return kExitOk;
}

}  // namespace sonde
