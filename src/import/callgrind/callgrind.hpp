#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// The profile format of Valgrind's Callgrind, which pyprof2calltree, yappi, pprofile and others
// write.
bool looks_like_callgrind(std::string_view head);
Result<Trace> import_callgrind(const ImportInput& input);

}  // namespace sonde
