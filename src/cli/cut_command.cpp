#include "cli/cut_command.hpp"

#include "cli/usage.hpp"

namespace sonde {

CommandInfo CutCommand::info() const {
  CommandInfo info;
  info.name = "cut";
  info.description = "write a piece of a trace: a time, a step, a rank, some kinds of events";
  info.details =
      "Keeps the slices that overlap the time, whole, with their arguments and with the links "
      "whose "
      "both ends stay, and the markers, counter values, allocations and samples in it. With "
      "--step, "
      "device work belongs to the step that launched it. All conditions must hold.\n\n"
      "Files are read one after the other. Trace-event JSON of PyTorch and others, XPlane, Nsight "
      "Systems SQLite, Perfetto and Sonde's own runs are read two or three times, and no more of "
      "them is in memory than the piece; of other formats, and from standard input, the whole "
      "trace.";
  info.examples = {
      {"sonde cut trace.json.gz --from 1.5s --to-time 1.6s -o piece.json.gz",
       "a tenth of a second"},
      {"sonde cut trace.json.gz --step 3-4 -o steps.pftrace", "two steps, for Perfetto"},
      {"sonde cut run/ --rank 2 --kind kernel,memcpy -o device.json", "what one rank's GPU did"},
  };
  return info;
}

void CutCommand::define(Options& options) {
  Option& paths = options.positionals(job_.paths, "PATH",
                                      "trace files, folders of traces, or - for standard input");
  paths.required = true;
  paths.hint = ValueHint::File;
  job_.cut.define(options);
  job_.define_output(options);
  job_.define_format(options, "-t,--to");
  job_.define_looks(options);
}

int CutCommand::run() {
  if (!job_.cut.any())
    return report_failure(
        usage_error("say which piece: --from, --to-time, --step, --rank or --kind"), "cut");
  return job_.run("cut");
}

}  // namespace sonde
