#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// What the sampler Austin writes: text, and its binary format MOJO.
bool looks_like_austin(std::string_view head);
Result<Trace> import_austin(const ImportInput& input);

bool looks_like_mojo(std::string_view head);
Result<Trace> import_mojo(const ImportInput& input);

}  // namespace sonde
