#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"
#include "trace/run_info.hpp"

namespace sonde {

// A run folder among the traces that a command looks at.
struct RunFolder {
  std::string path;
  RunInfo info;
};

// The folder of a trace, as RunFolder::path has it.
std::string folder_of(const NamedTrace& named);

// Command, times, end, machine, and the processes that recorded.
std::vector<Block> run_blocks(const RunFolder& folder,
                              const std::vector<const NamedTrace*>& traces);

}  // namespace sonde
