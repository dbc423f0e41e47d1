#pragma once

#include <string>

#include "cli/command.hpp"
#include "cli/export_job.hpp"

namespace sonde {

// sonde convert A B: both formats follow from the files.
class ConvertCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  ExportJob job_;
  std::string input_;
  std::string output_;
};

}  // namespace sonde
