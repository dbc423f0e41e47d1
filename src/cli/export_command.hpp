#pragma once

#include <string>

#include "cli/command.hpp"
#include "cli/export_job.hpp"

namespace sonde {

// sonde export PATH... --to FORMAT: a trace in another tool's format.
class ExportCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  ExportJob job_;
};

}  // namespace sonde
