#include "cli/info_command.hpp"

#include <optional>
#include <set>

#include "cli/output.hpp"
#include "cli/reading.hpp"
#include "cli/usage.hpp"
#include "import/sonde_run/run_folder.hpp"
#include "report/info.hpp"

namespace sonde {
namespace {

// The run folders that the traces lie in.
std::vector<RunFolder> runs_of(const TraceSet& traces) {
  std::vector<RunFolder> out;
  std::set<std::string> seen;
  for (const NamedTrace& named : traces) {
    const std::string folder = folder_of(named);
    if (named.path == "-" || !seen.insert(folder).second) continue;
    if (const std::optional<RunInfo> info = read_run_info(folder)) out.push_back({folder, *info});
  }
  return out;
}

}  // namespace

CommandInfo InfoCommand::info() const {
  CommandInfo info;
  info.name = "info";
  info.description = "tell what a trace file is and what it holds";
  info.details =
      "Prints format, producer, time span, devices, events by kind, tracks, and everything that "
      "could not be read. For a run of 'sonde run' the command, its times, its end, the processes "
      "and the machine come first. With JSON, several traces are several members of 'runs'.";
  info.examples = {{"sonde info trace.json.gz", "one file"},
                   {"sonde info logs/ --format json", "all traces of a folder, for a script"}};
  return info;
}

void InfoCommand::define(Options& options) {
  Option& paths = options.positionals(paths_, "PATH",
                                      "trace files, folders of traces, or - for "
                                      "standard input");
  paths.required = true;
  paths.hint = ValueHint::File;
  Option& format = options.text(format_, "-f,--format", "FORMAT", "how to write it");
  format.choices = {"text", "json", "csv", "markdown"};
  format.only_choices = true;
  format.default_text = "text";
  define_output(options, output_, color_);
}

int InfoCommand::run() {
  const Result<TraceSet> traces = read_traces(paths_);
  if (!traces) return report_failure(traces.error(), "info");
  return write_output(
      info_report(*traces, runs_of(*traces), format_, render_options(color_, output_)), output_);
}

}  // namespace sonde
