#pragma once

#include "import/importer.hpp"

namespace sonde {

// What Sonde's own recorder leaves: one .sonde file for each process of a run.
bool looks_like_sonde_run(std::string_view head);
Result<Trace> import_sonde_run(const ImportInput& input);

}  // namespace sonde
