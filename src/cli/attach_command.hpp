#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/run_folder_writer.hpp"

namespace sonde {

// sonde attach PID: samples a Python program that runs already, with its children.
class AttachCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  struct Wish;
  struct Outcome;

  Result<Wish> read_options() const;
  // Samples until the time is over, somebody ends it, or the process is gone.
  Result<Outcome> record(const Wish& wish, const std::string& program,
                         const RunFolderWriter& folder) const;
  // The summary and the place of the run.
  void tell(const Wish& wish, const Outcome& outcome, const RunFolderWriter& folder) const;

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
