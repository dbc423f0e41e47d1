#pragma once

#include "import/importer.hpp"

namespace sonde {

// PyTorch's execution traces: JSON, of the old and of the Chakra schema.
bool looks_like_execution_trace(std::string_view head);
Result<Trace> import_execution_trace(const ImportInput& input);

// Chakra's own form of them: a stream of protobuf messages (.et).
bool looks_like_chakra(std::string_view head);
Result<Trace> import_chakra(const ImportInput& input);

}  // namespace sonde
