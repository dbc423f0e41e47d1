#pragma once

#include "import/importer.hpp"

namespace sonde {

// Answers that XProf or TensorBoard computed from a profile and left beside it (tables and protobuf
// messages). They hold no events: they are known so that the user can be told what to open instead.
bool looks_like_xprof_tool(std::string_view head);
Result<Trace> refuse_xprof_tool(const ImportInput& input);

}  // namespace sonde
