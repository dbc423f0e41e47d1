#include "cli/convert_command.hpp"

namespace sonde {

CommandInfo ConvertCommand::info() const {
  CommandInfo info;
  info.name = "convert";
  info.description = "write a trace file in the format that another file's name asks for";
  info.details =
      "Reads INPUT, whose format is recognised by its content, and writes OUTPUT, whose format "
      "follows from its name.\n\n" +
      exporters_text();
  info.examples = {
      {"sonde convert trace.json.gz trace.pftrace", "from PyTorch to Perfetto"},
      {"sonde convert train.prof callgrind.out.train", "from cProfile to KCachegrind"},
  };
  return info;
}

void ConvertCommand::define(Options& options) {
  Option& input = options.positional(input_, "INPUT", "the file to read, or - for standard input");
  input.required = true;
  input.hint = ValueHint::File;
  Option& output = options.positional(output_, "OUTPUT", "the file to write");
  output.required = true;
  output.hint = ValueHint::File;
  job_.define_looks(options);
}

int ConvertCommand::run() {
  job_.paths = {input_};
  job_.output = output_;
  return job_.run("convert");
}

}  // namespace sonde
