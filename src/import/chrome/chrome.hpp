#pragma once

#include "import/importer.hpp"

namespace sonde {

// The general trace-event format of Chrome and of everything that writes for it.
bool looks_like_chrome(std::string_view head);
Result<Trace> import_chrome(const ImportInput& input);

}  // namespace sonde
