#pragma once

#include "import/importer.hpp"

namespace sonde {

// What PaddlePaddle's profiler writes: *.paddle_trace.json (export_chrome_tracing) …
bool looks_like_paddle_json(std::string_view head);
Result<Trace> import_paddle_json(const ImportInput& input);

// … and *.paddle_trace.pb (export_protobuf).
bool looks_like_paddle_dump(std::string_view head);
Result<Trace> import_paddle_dump(const ImportInput& input);

}  // namespace sonde
