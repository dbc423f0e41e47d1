#pragma once

#include <cstdint>
#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde top PID: where a Python program spends its time just now.
class TopCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string process_;
  std::string duration_;
  std::string interval_;
  std::string sort_;
  std::int64_t rate_ = 100;
  std::int64_t rows_ = 0;
  bool lines_ = false;
  bool idle_ = false;
  bool native_ = false;
  bool no_stop_ = false;
  bool no_children_ = false;
};

}  // namespace sonde
