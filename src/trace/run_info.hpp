#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

// What the run.json of a run folder tells, as far as it does.
struct RunInfo {
  std::string version;  // of the Sonde that recorded
  std::vector<std::string> command;
  std::string folder;      // in which the program was started
  std::int64_t start = 0;  // Unix time, ns
  std::optional<std::int64_t> end;
  std::optional<int> exit_code;
  std::optional<int> signal;  // that ended the program

  std::string host;
  std::string system;
  std::string architecture;
  std::string cpu;
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
};

}  // namespace sonde
