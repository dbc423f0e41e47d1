#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// The JSON of vprof: its profiler, flame graph and heat map in one file.
bool looks_like_vprof(std::string_view head);
Result<Trace> import_vprof(const ImportInput& input);

}  // namespace sonde
