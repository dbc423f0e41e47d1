#pragma once

#include "import/importer.hpp"

namespace sonde {

// The raw form of torch.profiler's export_memory_timeline(): [[time, action, bytes, category], …].
bool looks_like_memory_timeline(std::string_view head);
Result<Trace> import_memory_timeline(const ImportInput& input);

}  // namespace sonde
