#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "trace/run_info.hpp"

namespace sonde {

inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kRunsFolder = "sonde-runs";

// Nothing where the folder has no run.json that can be read.
std::optional<RunInfo> read_run_info(const std::string& folder);

// The run folder below `root` that was begun last.
Result<std::string> newest_run(const std::string& root = kRunsFolder);

}  // namespace sonde
