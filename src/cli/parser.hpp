#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace sonde {

// What the command line asks for.
struct Parsed {
  enum class Action { Run, ShowHelp, ShowVersion };

  Action action = Action::Run;
  Command* command = nullptr;  // null: the program itself
};

// Reads `arguments` (without the program's name) into the members of one command of `commands`.
// Wrong usage is an Error whose text names the nearest right spelling; `command_name` is then the
// command that was meant, empty where none was recognised.
Result<Parsed> parse_arguments(const std::vector<std::string>& arguments,
                               const CommandList& commands, std::string& command_name);

}  // namespace sonde
