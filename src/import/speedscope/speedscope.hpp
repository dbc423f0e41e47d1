#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// speedscope's own JSON, which py-spy, austin and others write too.
bool looks_like_speedscope(std::string_view head);
Result<Trace> import_speedscope(const ImportInput& input);

}  // namespace sonde
