#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// What line_profiler writes (.lprof): how often each line ran and how long it took.
bool looks_like_lprof(std::string_view head);
Result<Trace> import_lprof(const ImportInput& input);

}  // namespace sonde
