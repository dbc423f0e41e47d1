#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace sonde {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // the input or the output could not be used
inline constexpr int kExitUsage = 2;    // the command line makes no sense

// What a command says about itself. Help, man page and shell completion are made from this and from
// its options, so that they cannot disagree.
struct CommandInfo {
  std::string name;
  std::string description;  // one line, lower case, no full stop
  std::string details;      // paragraphs, separated by empty lines
  std::vector<std::pair<std::string, std::string>> examples;  // command line, what it does
  bool hidden = false;                                        // not in lists; for the build
};

// One command, in one file. Made anew for each parse: options are written into its members.
class Command {
 public:
  virtual ~Command() = default;

  virtual CommandInfo info() const = 0;
  virtual void define(Options& options) = 0;
  // Returns the exit status. Prints results on standard output, everything else on standard error.
  virtual int run() = 0;
};

using CommandList = std::vector<std::unique_ptr<Command>>;

// All commands in the order of the help text.
CommandList all_commands();

}  // namespace sonde
