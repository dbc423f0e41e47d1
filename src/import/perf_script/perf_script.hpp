#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// The text that `perf script` prints of a recording of Linux perf.
bool looks_like_perf_script(std::string_view head);
Result<Trace> import_perf_script(const ImportInput& input);

}  // namespace sonde
