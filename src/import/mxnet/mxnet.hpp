#pragma once

#include "import/importer.hpp"

namespace sonde {

// Dumps of MXNet's profiler, of all its releases and in whatever state they were left in.
bool looks_like_mxnet(std::string_view head);
Result<Trace> import_mxnet(const ImportInput& input);

}  // namespace sonde
