#pragma once

#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde dump PID: what each thread of a Python program is doing now.
class DumpCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string process_;
  bool json_ = false;
  bool locals_ = false;
  bool native_ = false;
  bool no_stop_ = false;
};

}  // namespace sonde
