#pragma once

#include <cstdint>
#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde attach PID: samples a Python program that runs already, with its children.
class AttachCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string process_;
  std::string duration_;
  std::string output_;
  std::string max_size_;
  std::int64_t rate_ = 100;
  bool native_ = false;
  bool no_stop_ = false;
  bool no_children_ = false;
  bool idle_ = false;
  bool quiet_ = false;
  bool force_ = false;
};

}  // namespace sonde
