#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// A snapshot of Python's tracemalloc (Snapshot.dump): the blocks that were live, and where they
// were allocated.
bool looks_like_tracemalloc(std::string_view head);
Result<Trace> import_tracemalloc(const ImportInput& input);

}  // namespace sonde
