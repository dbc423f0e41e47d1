#pragma once

#include <optional>
#include <string>

#include "cli/program.hpp"

namespace sonde {

enum class GpuMode { Auto, On, Off };

// "auto", "on" or "off".
std::optional<GpuMode> parse_gpu_mode(const std::string& text);

// What `sonde run` does about GPUs.
struct GpuSetup {
  Program::Environment environment;  // to set for the program
  bool watch = false;                // the machine's GPUs, from outside
  std::string note;                  // one line for the user; empty: nothing to say
};

// Looks for an NVIDIA driver, and for the libraries that it loads into the program. Variables that
// the user has set stay as they are.
GpuSetup prepare_gpu(GpuMode mode);

}  // namespace sonde
