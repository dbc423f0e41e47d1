#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace sonde {

// sonde info PATH...: what a file is and holds.
class InfoCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::vector<std::string> paths_;
  std::string format_ = "text";
  std::string color_ = "auto";
  std::string output_;
};

}  // namespace sonde
