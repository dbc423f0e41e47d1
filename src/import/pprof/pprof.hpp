#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// pprof's profile.proto, as Go programs, py-spy's and austin's converters and others write it.
bool looks_like_pprof(std::string_view head);
Result<Trace> import_pprof(const ImportInput& input);

}  // namespace sonde
