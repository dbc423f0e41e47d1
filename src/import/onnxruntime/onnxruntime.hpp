#pragma once

#include "import/importer.hpp"

namespace sonde {

// Profiles of ONNX Runtime (SessionOptions.enable_profiling).
bool looks_like_onnxruntime(std::string_view head);
Result<Trace> import_onnxruntime(const ImportInput& input);

}  // namespace sonde
