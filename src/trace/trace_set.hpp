#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// One trace among several: which run (folder) and which worker (rank, host) it belongs to.
struct NamedTrace {
  std::string run;  // path of the run folder relative to the log folder; "." for the folder itself
  std::string worker;  // file name up to ".pt.trace.json", or the whole file name
  std::string path;
  Trace trace;
};

// Everything that one command looks at, ordered by (run, worker, path).
using TraceSet = std::vector<NamedTrace>;

}  // namespace sonde
