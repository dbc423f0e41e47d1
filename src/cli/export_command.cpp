#include "cli/export_command.hpp"

#include "report/registry.hpp"

namespace sonde {

CommandInfo ExportCommand::info() const {
  CommandInfo info;
  info.name = "export";
  info.description = "write a trace in another tool's format";
  info.details =
      "Reads traces and writes them in the format that --to or the name of the output asks for. "
      "Several traces, as the ranks of a run, become one: --rank picks one of them. What the "
      "format "
      "has no room for is told on standard error.\n\n"
      "With --view, csv and json have the table of a report instead of the trace.\n\n" +
      exporters_text();
  info.examples = {
      {"sonde export trace.json.gz --to perfetto -o trace.pftrace", "for ui.perfetto.dev"},
      {"sonde export trace.json.gz -o flames.svg", "a flame graph for a browser"},
      {"sonde export trace.json.gz --to flamegraph --weight memory -o memory.svg",
       "who allocated how much"},
      {"sonde export run/ --rank 0 --step 3 -o step3.json.gz", "one step of one rank"},
      {"sonde export trace.json.gz -o trace.sqlite", "a database for questions of your own"},
      {"sonde export trace.json.gz --to csv --view kernels", "a report's table"},
  };
  return info;
}

void ExportCommand::define(Options& options) {
  Option& paths = options.positionals(job_.paths, "PATH",
                                      "trace files, folders of traces, or - for standard input");
  paths.required = true;
  paths.hint = ValueHint::File;
  job_.define_format(options, "-t,--to");
  Option& view =
      options.text(job_.view, "-v,--view", "VIEW", "a view of 'sonde report', for csv and json");
  view.choices = view_names("sonde");
  job_.define_output(options);
  job_.cut.define(options);
  job_.define_looks(options);
}

int ExportCommand::run() { return job_.run("export"); }

}  // namespace sonde
