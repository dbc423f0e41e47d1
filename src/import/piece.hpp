#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "import/loader.hpp"
#include "trace/selection.hpp"

namespace sonde {

// Says what is wanted of a trace, given its steps, whose times and the filter's count from the
// trace's start. Null: everything.
using ChooseFilter = std::function<Result<TraceFilter>(const std::vector<Selection::Step>& steps)>;
// Whether a trace is wanted at all, as far as its meta data tell.
using WantTrace = std::function<bool(const TraceMeta& meta)>;

struct Piece {
  Trace trace;
  bool wanted = true;      // else `trace` is empty
  bool read_whole = true;  // the reader of the format, or this file, could not be read in pieces
};

// Reads a piece of a file ("-" for standard input): the same as filter_trace() of the whole one.
// Where the format's reader can, the file is read two or three times, and no more of it is ever in
// memory than the piece and what decides about its links.
Result<Piece> load_piece(const std::string& path, const ChooseFilter& choose,
                         const LoadOptions& options = {}, const WantTrace& want = nullptr);

}  // namespace sonde
