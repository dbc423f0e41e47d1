#pragma once

#include "import/importer.hpp"

namespace sonde {

// The timelines of TensorFlow and JAX as trace-event JSON: <host>.trace.json.gz, which is made from
// an XPlane profile, and the timelines of TensorFlow 1.
bool looks_like_tensorflow_json(std::string_view head);
Result<Trace> import_tensorflow_json(const ImportInput& input);

}  // namespace sonde
