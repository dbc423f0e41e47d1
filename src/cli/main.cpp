#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/help_text.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "cli/usage.hpp"
#include "sonde_version.hpp"

namespace {

int run(const std::vector<std::string>& arguments) {
  using namespace sonde;
  const CommandList commands = all_commands();
  std::string name;
  const Result<Parsed> parsed = parse_arguments(arguments, commands, name);
  if (!parsed) return report_failure(parsed.error(), name);
  switch (parsed->action) {
    case Parsed::Action::ShowVersion:
      return write_output(fmt::format("sonde {}\n", kVersion), "");
    case Parsed::Action::ShowHelp:
      return write_output(parsed->command ? command_help(*parsed->command) : program_help(commands),
                          "");
    case Parsed::Action::Run:
      break;
  }
  return parsed->command->run();
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away shows as a failed write, which write_output() takes quietly.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    sonde::print_error("out of memory");
  } catch (const std::exception& error) {
    sonde::print_error(std::string("internal error: ") + error.what());
  }
  return sonde::kExitFailure;
}
