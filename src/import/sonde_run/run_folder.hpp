#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sonde {

inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kRunsFolder = "sonde-runs";

// What run.json tells about a run, as far as it does.
struct RunInfo {
  std::vector<std::string> command;
  std::int64_t start = 0;  // Unix time, ns
  std::optional<std::int64_t> end;
  std::optional<int> exit_code;
};

// Nothing where the folder has no run.json that can be read.
std::optional<RunInfo> read_run_info(const std::string& folder);

// The run folder below `root` that was begun last.
Result<std::string> newest_run(const std::string& root = kRunsFolder);

}  // namespace sonde
