#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"

namespace sonde {

// The options of `sonde run` about memory, and what they mean for the program's environment.
class RunMemory {
 public:
  void define(Options& options);
  // What is wrong with the words that were given; call it once, before apply().
  std::optional<Error> check();
  // Adds to what is there already: to LD_PRELOAD and PYTHONPATH of this process, to SONDE_PYTHON of
  // `environment`. Nothing where memory was not asked for.
  std::optional<Error> apply(Program::Environment& environment) const;

  bool lines() const { return lines_; }
  bool objects() const { return objects_; }

 private:
  std::string memory_;
  std::string gap_;
  bool exact_ = false;
  bool lines_ = false;
  bool objects_ = false;
  std::uint64_t gap_bytes_ = 0;
};

}  // namespace sonde
