#pragma once

#include <string>

#include "import/importer.hpp"

namespace sonde {

// Tables of rocprofv3 (and of rocprof v1). Files whose names begin alike ("123_kernel_trace.csv",
// "123_hip_api_trace.csv") are of one run, and are read together.
bool looks_like_rocprof_csv(std::string_view head);
Result<Trace> import_rocprof_csv(const ImportInput& input);
// Whether another file of its folder brings this one along.
bool is_brought_along_by_rocprof(const std::string& path);

// rocprofv3 --output-format json.
bool looks_like_rocprof_json(std::string_view head);
Result<Trace> import_rocprof_json(const ImportInput& input);

}  // namespace sonde
