#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/run_memory.hpp"
#include "cli/run_python.hpp"
#include "cli/run_sampler.hpp"

namespace sonde {

// sonde run -- PROGRAM ARGS…: records a program and its children, and tells what it saw.
class RunCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string output_;
  std::string max_size_;
  std::string keep_last_;
  std::string gpu_;
  bool quiet_ = false;
  bool force_ = false;
  RunSamplerOptions sampling_;
  RunPython python_;
  RunMemory memory_;
  std::vector<std::string> command_;
};

}  // namespace sonde
