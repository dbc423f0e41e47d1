#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// The annotated source that pprofile prints: hits and time of each line, and the calls made there.
bool looks_like_pprofile(std::string_view head);
Result<Trace> import_pprofile(const ImportInput& input);

}  // namespace sonde
