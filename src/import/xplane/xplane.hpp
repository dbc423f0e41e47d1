#pragma once

#include "import/importer.hpp"

namespace sonde {

// Profiles of TensorFlow, JAX and other users of XLA: one XSpace message, <host>.xplane.pb.
bool looks_like_xplane(std::string_view head);
Result<Trace> import_xplane(const ImportInput& input);

}  // namespace sonde
