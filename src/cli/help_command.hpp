#pragma once

#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde help [COMMAND]
class HelpCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string command_;
};

}  // namespace sonde
