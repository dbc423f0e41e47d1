#pragma once

#include "import/importer.hpp"

namespace sonde {

// Perfetto's protobuf traces (.pftrace, .perfetto-trace): track events.
bool looks_like_perfetto(std::string_view head);
Result<Trace> import_perfetto(const ImportInput& input);

}  // namespace sonde
