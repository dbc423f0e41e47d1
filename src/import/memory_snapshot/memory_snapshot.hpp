#pragma once

#include "import/importer.hpp"

namespace sonde {

// torch.cuda.memory._dump_snapshot(): a pickle of what PyTorch's caching allocator holds and did.
bool looks_like_memory_snapshot(std::string_view head);
Result<Trace> import_memory_snapshot(const ImportInput& input);

}  // namespace sonde
