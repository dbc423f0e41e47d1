#pragma once

#include "import/importer.hpp"

namespace sonde {

// SQLite exports of Nsight Systems (nsys export --type sqlite).
bool looks_like_nsys(std::string_view head);
Result<Trace> import_nsys(const ImportInput& input);

}  // namespace sonde
