#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

class Selection;

struct LoadProgress {
  std::string path;
  std::uint64_t bytes_read = 0;   // of the file as it lies on disk
  std::uint64_t bytes_total = 0;  // 0 where unknown (standard input)
};

struct LoadOptions {
  unsigned threads = 0;  // 0: as many as the machine has
  // Called now and then from a thread of the loader; must be quick.
  std::function<void(const LoadProgress&)> progress;
  // What to keep, for readers that can leave the rest out: see load_piece().
  Selection* selection = nullptr;
};

// A trace file found under a path given by the user, not yet read.
struct TraceFile {
  std::string run;
  std::string worker;
  std::string path;  // "-" is standard input
};

// The worker's name in a trace file name: "w0.pt.trace.json.gz" -> "w0".
std::string worker_name(const std::string& path);

// The trace files behind `path`: the file itself, "-" for standard input, or for a folder all
// traces in it and in its sub-folders (each folder with traces is a run). Candidates in folders
// are recognised by content, not by name; what is no trace is passed over. Ordered by (run, worker,
// path). A folder without traces is an error.
Result<std::vector<TraceFile>> find_trace_files(const std::string& path);

// Reads one file ("-" for standard input) whole.
Result<Trace> load_trace(const std::string& path, const LoadOptions& options = {});

// Finds and reads everything behind the paths. Fails when nothing at all could be read; a file
// among several that can't be read becomes a note in `skipped`.
struct LoadedSet {
  TraceSet traces;
  std::vector<Error> skipped;
};
Result<LoadedSet> load_traces(const std::vector<std::string>& paths,
                              const LoadOptions& options = {});

}  // namespace sonde
