#include "cli/help_command.hpp"

#include "base/spelling.hpp"
#include "cli/help_text.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"

namespace sonde {

CommandInfo HelpCommand::info() const {
  CommandInfo info;
  info.name = "help";
  info.description = "tell how a command is used";
  info.examples = {{"sonde help report", "the same as sonde report --help"},
                   {"sonde help formats", "the formats that can be read"}};
  return info;
}

void HelpCommand::define(Options& options) {
  Option& command = options.positional(command_, "COMMAND",
                                       "the command, or \"formats\"; without it, all commands");
  command.hint = ValueHint::Command;
}

int HelpCommand::run() {
  const CommandList commands = all_commands();
  if (command_.empty()) return write_output(program_help(commands), "");
  if (command_ == "formats") return write_output(formats_help(), "");
  std::vector<std::string> names{"formats"};
  for (const auto& command : commands) {
    if (command->info().name == command_) return write_output(command_help(*command), "");
    if (!command->info().hidden) names.push_back(command->info().name);
  }
  return report_failure(usage_error(unknown_word("command", command_, names)), "");
}

}  // namespace sonde
