#pragma once

#include <string>

#include "cli/command.hpp"

namespace sonde {

// What "sonde --help" prints.
std::string program_help(const CommandList& commands);

// What "sonde COMMAND --help" prints.
std::string command_help(Command& command);

// What "sonde help formats" prints: every format that can be read, in the order in which they are
// tried.
std::string formats_help();

// "sonde report PATH... [options]"
std::string usage_line(const CommandInfo& info, const Options& options);

// "-o, --output FILE"
std::string option_title(const Option& option);
// The help with the choices and the default behind it.
std::string option_help(const Option& option);

}  // namespace sonde
