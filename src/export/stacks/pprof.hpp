#pragma once

#include "export/exporter.hpp"

namespace sonde {

// For the pprof tool: a gzip-packed profile.proto.
Result<ExportNotes> write_pprof(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
