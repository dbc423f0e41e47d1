#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"

namespace sonde {

// The option of `sonde run` about GPUs, and what it means for the program's environment.
class RunGpu {
 public:
  void define(Options& options);
  // What is wrong with the word that was given; call it once, before apply().
  std::optional<Error> check();
  // Looks for an NVIDIA driver, and for the libraries that it loads into the program. Variables
  // that the user has set stay as they are.
  void apply(Program::Environment& environment);

  // Whether the machine's GPUs are to be watched from outside.
  bool watch() const { return watch_; }
  // One line for the user; empty: nothing to say.
  const std::string& note() const { return note_; }

 private:
  enum class Mode { Auto, On, Off };

  std::string word_;
  Mode mode_ = Mode::Auto;
  bool watch_ = false;
  std::string note_;
};

}  // namespace sonde
