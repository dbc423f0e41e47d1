#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"

namespace sonde {

// How the Python programs below `sonde run` are recorded: the options, what they mean for the
// environment of the program, and what is to be said afterwards.
class RunPython {
 public:
  void define(Options& options);

  // Checks the options, and sets what the agent in each interpreter looks for. Nothing where no
  // agent is asked for.
  std::optional<Error> prepare(Program::Environment& environment);

  // Whether the stacks are to be sampled from outside; true where nothing was asked for.
  bool samples() const { return samples_; }

  // The agent is started for another option; `alone` where nothing but Python is recorded by it.
  void expect_agent(bool alone) {
    expected_ = true;
    agent_ = agent_ || alone;
  }

  // What the agents had to say, one line each: why a process was not recorded.
  std::vector<std::string> notes(const std::string& folder) const;

 private:
  std::string modes_;
  bool timeline_ = false;
  std::string torch_;
  std::string include_;
  std::string exclude_;
  bool samples_ = true;
  bool agent_ = false;
  bool expected_ = false;
};

}  // namespace sonde
