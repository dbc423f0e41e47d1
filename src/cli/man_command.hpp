#pragma once

#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde __man FOLDER: writes the man pages sonde.1, sonde-report.1, … for the build.
class ManCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string folder_;
};

std::string program_man_page(const CommandList& commands);
std::string command_man_page(Command& command);

}  // namespace sonde
