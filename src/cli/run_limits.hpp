#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"

namespace sonde {

// The options of `sonde run` about how much is recorded of a process, and what they mean for the
// program's environment.
class RunLimits {
 public:
  void define(Options& options);
  // What is wrong with the sizes that were given; call it once, before the others.
  std::optional<Error> check();
  // Sets what the recorder in each process looks for; what was set outside does not count.
  void apply(Program::Environment& environment) const;

  // The most that a file of a process may take, or the last bytes that are kept; 0: no limit.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string max_size_;
  std::string keep_last_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sonde
