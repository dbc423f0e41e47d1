#include "cli/run_command.hpp"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/format.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/run_folder_writer.hpp"
#include "cli/run_gpu.hpp"
#include "cli/run_summary.hpp"
#include "cli/usage.hpp"
#include "report/safe_text.hpp"
#include "system/system_agent.hpp"

namespace sonde {
namespace {

constexpr const char* kDefaultMaxSize = "1G";

std::string end_text(const ProgramEnd& end) {
  if (!end.signal) return fmt::format("exit code {}", end.exit_code);
  const char* name = ::sigabbrev_np(*end.signal);
  return fmt::format("ended by signal {}{}", *end.signal,
                     name ? fmt::format(" (SIG{})", name) : "");
}

}  // namespace

CommandInfo RunCommand::info() const {
  CommandInfo info;
  info.name = "run";
  info.description = "run a program, record it, and tell what took the time";
  info.details =
      "Runs PROGRAM and records it with all its children: what they say through Sonde's API, and, "
      "ten times a second from outside, their CPU time, memory, threads, context switches and "
      "input and output, and the CPU and memory of the machine. Where there is an NVIDIA GPU: its "
      "kernels, copies and calls, NVTX ranges, and its use, memory, power and clocks.\n\n"
      "The program keeps its terminal, its standard streams and its signals. Its exit code is that "
      "of 'sonde run' (128 + N where signal N ended it; 127 where there is no such program, 126 "
      "where it cannot be run). The summary and the place of the run go to standard error. 'sonde "
      "report' without a path shows the newest run again.";
  info.examples = {
      {"sonde run -- ./train --epochs 1", "record a program, print the summary"},
      {"sonde run -o slow/ --quiet -- python3 train.py", "into a folder of your own, silently"},
      {"sonde run --python function -- python3 train.py", "every call of Python code"},
      {"sonde run --memory lines -- python3 train.py", "what each line allocates"},
      {"sonde run --keep-last 64M -- ./server", "a flight recorder: only the last 64 MiB stay"}};
  return info;
}

void RunCommand::define(Options& options) {
  Option& program =
      options.positionals(command_, "PROGRAM",
                          "the program and its arguments, as they would stand without 'sonde run'");
  program.required = true;
  program.rest = true;
  program.hint = ValueHint::File;
  Option& output = options.text(output_, "-o,--output", "DIR", "folder for the run");
  output.hint = ValueHint::Folder;
  output.default_text = "sonde-runs/PROGRAM-TIME/";
  options.flag(quiet_, "-q,--quiet", "print neither the summary nor the place of the run");
  Option& most = options.text(max_size_, "--max-size", "SIZE",
                              "stop recording a process when its file has this size (K, M, G); 0 "
                              "for no limit");
  most.default_text = kDefaultMaxSize;
  options.text(keep_last_, "--keep-last", "SIZE",
               "keep the last records of a process only, as many as fit into this size (K, M, G)");
  python_.define(options);
  Option& gpu =
      options.text(gpu_, "--gpu", "MODE",
                   "record the GPU's work and NVTX ranges: auto (where there is an NVIDIA "
                   "driver), on (and say why where there is none) or off");
  gpu.default_text = "auto";
  options.flag(force_, "--force", "replace the run that lies in the folder");
  sampling_.define(options);
  memory_.define(options);
}

int RunCommand::run() {
  const auto size_error = [](const char* option, const std::string& value) {
    return report_failure(
        usage_error(fmt::format("{} needs a size such as 64M or 1G, not '{}'", option, value)),
        "run");
  };
  if (!max_size_.empty() && !keep_last_.empty()) {
    return report_failure(usage_error("--max-size and --keep-last exclude each other"), "run");
  }
  const std::string most = max_size_.empty() ? kDefaultMaxSize : max_size_;
  const std::optional<std::uint64_t> max_bytes = parse_size(most);
  if (!max_bytes) return size_error("--max-size", most);
  const std::optional<std::uint64_t> last_bytes = parse_size(keep_last_.empty() ? "0" : keep_last_);
  if (!last_bytes || (!keep_last_.empty() && *last_bytes == 0)) {
    return size_error("--keep-last", keep_last_);
  }
  const std::optional<GpuMode> gpu_mode = parse_gpu_mode(gpu_);
  if (!gpu_mode) {
    return report_failure(usage_error(fmt::format("--gpu is auto, on or off, not '{}'", gpu_)),
                          "run");
  }

  const bool last = !keep_last_.empty();
  Program::Environment environment = {{"SONDE_RUN_DIR", std::nullopt},
                                      {"SONDE_MAX_SIZE", std::nullopt},
                                      {"SONDE_KEEP_LAST", std::nullopt}};
  if (last) environment[2].second = std::to_string(*last_bytes);
  if (!last && *max_bytes > 0) environment[1].second = std::to_string(*max_bytes);
  std::optional<Error> wrong = memory_.check();
  if (!wrong) wrong = python_.prepare(environment);
  sampling_.wanted = python_.samples();
  if (!wrong) wrong = sampling_.check();
  if (wrong) return report_failure(*wrong, "run");

  const Result<RunFolderWriter> folder = RunFolderWriter::begin(output_, command_, force_);
  if (!folder) {
    print_error(folder.error().text());
    return kExitFailure;
  }

  environment[0].second = folder->full_path();
  if (const std::optional<Error> failed = memory_.apply(environment)) {
    folder->remove();
    print_error(failed->text());
    return kExitFailure;
  }
  if (memory_.lines() || memory_.objects()) python_.expect_agent(!memory_.lines());
  const GpuSetup gpu = prepare_gpu(*gpu_mode);
  environment.insert(environment.end(), gpu.environment.begin(), gpu.environment.end());
  int status = kExitFailure;
  Result<Program> program = Program::start(command_, environment, status);
  if (!program) {
    folder->remove();
    print_error(program.error().text());
    return status;
  }

  SystemAgent agent(folder->full_path() + "/system.sonde", command_.front(), program->pid(),
                    gpu.watch);
  RunSampler sampler(program->pid(), folder->full_path(), last ? *last_bytes : *max_bytes,
                     sampling_);
  const ProgramEnd end = program->wait([&] { agent.sample(); });
  agent.finish(end.usage);
  sampler.finish();
  const bool written = folder->write_end(end.exit_code, end.signal);
  program->restore_signals();
  if (!written) {
    print_warning(fmt::format("{}: cannot write run.json: {}", folder->path(), ::strerror(errno)));
  }
  for (const std::string& note : sampler.notes()) print_warning(note);
  if (!quiet_) {
    for (const std::string& note : python_.notes(folder->full_path())) print_warning(note);
    print_run_summary(folder->path());
    if (!gpu.note.empty()) write_error_output("sonde: " + gpu.note + "\n");
    write_error_output(
        fmt::format("sonde: {}; the run lies in {}\n", end_text(end), safe_text(folder->path())));
  }
  return end.exit_code;
}

}  // namespace sonde
