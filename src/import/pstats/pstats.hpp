#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// What Python's cProfile, profile and profiling.sampling write: pstats files (.prof).
bool looks_like_pstats(std::string_view head);
Result<Trace> import_pstats(const ImportInput& input);

}  // namespace sonde
