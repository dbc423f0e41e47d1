#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// What memory_profiler's `mprof run` writes (mprofile_*.dat): memory over time.
bool looks_like_mprof(std::string_view head);
Result<Trace> import_mprof(const ImportInput& input);

}  // namespace sonde
