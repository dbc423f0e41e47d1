#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/group_witness.hpp"

namespace sonde {

struct ProgramEnd {
  int exit_code = 0;  // 128 + N where signal N ended it, as shells have it
  std::optional<int> signal;
  rusage usage{};  // of the program and of all that it waited for
};

// A program that runs as if it had been started without Sonde: in the same process group, on the
// same terminal, with the same standard streams, signal mask and dispositions. While it runs, Sonde
// passes on the signals that are sent to Sonde alone (those to the whole group the program has
// already) and stops when the program is stopped from the terminal.
class Program {
 public:
  // Names with a value to set, names without one to remove.
  using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

  // From here on signals wait for wait(). The exit status for a program that cannot be started is
  // left in `status`: 127 where there is none of that name, 126 where it cannot be run.
  static Result<Program> start(const std::vector<std::string>& command,
                               const Environment& environment, int& status);

  pid_t pid() const { return pid_; }

  // Calls `tick` ten times a second until the program ends.
  ProgramEnd wait(const std::function<void()>& tick);

  // Signals are again what they were before start().
  void restore_signals();

 private:
  Program() = default;
  void forward(const siginfo_t& info) const;
  void follow_stop(int signal) const;

  pid_t pid_ = 0;
  sigset_t watched_{};
  sigset_t before_{};
  GroupWitness witness_;
};

}  // namespace sonde
