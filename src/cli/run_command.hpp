#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/program.hpp"
#include "cli/run_folder_writer.hpp"
#include "cli/run_gpu.hpp"
#include "cli/run_limits.hpp"
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
  // What is wrong with the options. Adds to `environment` what they mean for Python programs.
  std::optional<Error> read_options(Program::Environment& environment);
  // Adds to `environment` what is recorded, and where.
  std::optional<Error> prepare(const RunFolderWriter& folder, Program::Environment& environment);
  // Looks at the program until it ends, and completes the folder.
  ProgramEnd record(Program& program, const RunFolderWriter& folder) const;
  // The summary and the place of the run.
  void tell(const ProgramEnd& end, const RunFolderWriter& folder) const;

  std::string output_;
  bool quiet_ = false;
  bool force_ = false;
  RunLimits limits_;
  RunGpu gpu_;
  RunSamplerOptions sampling_;
  RunPython python_;
  RunMemory memory_;
  std::vector<std::string> command_;
};

}  // namespace sonde
