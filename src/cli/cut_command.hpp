#pragma once

#include <string>

#include "cli/command.hpp"
#include "cli/export_job.hpp"

namespace sonde {

// sonde cut PATH... -o FILE: a piece of a trace.
class CutCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  ExportJob job_;
};

}  // namespace sonde
