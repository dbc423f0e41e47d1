#pragma once

#include <string_view>

#include "import/importer.hpp"

namespace sonde {

// Collapsed ("folded") stacks, as py-spy, perf's and DTrace's scripts and flame graph tools write
// them: "root;caller;leaf 12", a line for each stack.
bool looks_like_collapsed(std::string_view head);
Result<Trace> import_collapsed(const ImportInput& input);

}  // namespace sonde
