#include "cli/run_command.hpp"

#include <fmt/format.h>
#include <string.h>

#include <cerrno>

#include "base/write_error.hpp"
#include "cli/output.hpp"
#include "cli/run_summary.hpp"
#include "cli/usage.hpp"
#include "report/safe_text.hpp"
#include "system/system_agent.hpp"

namespace sonde {
namespace {

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
  limits_.define(options);
  python_.define(options);
  gpu_.define(options);
  options.flag(force_, "--force", "replace the run that lies in the folder");
  sampling_.define(options);
  memory_.define(options);
}

std::optional<Error> RunCommand::read_options(Program::Environment& environment) {
  std::optional<Error> wrong = limits_.check();
  if (!wrong) wrong = gpu_.check();
  if (!wrong) wrong = memory_.check();
  if (!wrong) wrong = python_.prepare(environment);
  sampling_.wanted = python_.samples();
  if (!wrong) wrong = sampling_.check();
  return wrong;
}

std::optional<Error> RunCommand::prepare(const RunFolderWriter& folder,
                                         Program::Environment& environment) {
  environment.emplace_back("SONDE_RUN_DIR", folder.full_path());
  limits_.apply(environment);
  if (std::optional<Error> failed = memory_.apply(environment)) return failed;
  if (memory_.lines() || memory_.objects()) python_.expect_agent(!memory_.lines());
  gpu_.apply(environment);
  return std::nullopt;
}

ProgramEnd RunCommand::record(Program& program, const RunFolderWriter& folder) const {
  SystemAgent agent(folder.full_path() + "/system.sonde", command_.front(), program.pid(),
                    gpu_.watch());
  RunSampler sampler(program.pid(), folder.full_path(), limits_.bytes(), sampling_);
  const ProgramEnd end = program.wait([&] { agent.sample(); });
  agent.finish(end.usage);
  sampler.finish();
  const int failed = folder.write_end(end.exit_code, end.signal) ? 0 : errno;
  program.restore_signals();
  if (failed != 0) {
    print_warning(write_error("cannot write run.json", folder.path(), failed).text());
  }
  for (const std::string& note : sampler.notes()) print_warning(note);
  return end;
}

void RunCommand::tell(const ProgramEnd& end, const RunFolderWriter& folder) const {
  for (const std::string& note : python_.notes(folder.full_path())) print_warning(note);
  print_run_summary(folder.path());
  if (!gpu_.note().empty()) write_error_output("sonde: " + gpu_.note() + "\n");
  write_error_output(
      fmt::format("sonde: {}; the run lies in {}\n", end_text(end), safe_text(folder.path())));
}

int RunCommand::run() {
  Program::Environment environment;
  if (const std::optional<Error> wrong = read_options(environment)) {
    return report_failure(*wrong, "run");
  }
  const Result<RunFolderWriter> folder = RunFolderWriter::begin(output_, command_, force_);
  if (!folder) {
    print_error(folder.error().text());
    return kExitFailure;
  }
  const auto give_up = [&](const Error& error, int status) {
    folder->remove();
    print_error(error.text());
    return status;
  };
  if (const std::optional<Error> failed = prepare(*folder, environment)) {
    return give_up(*failed, kExitFailure);
  }
  int status = kExitFailure;
  Result<Program> program = Program::start(command_, environment, status);
  if (!program) return give_up(program.error(), status);
  const ProgramEnd end = record(*program, *folder);
  if (!quiet_) tell(end, *folder);
  return end.exit_code;
}

}  // namespace sonde
