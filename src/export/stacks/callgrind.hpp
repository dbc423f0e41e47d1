#pragma once

#include "export/exporter.hpp"

namespace sonde {

// For KCachegrind, QCachegrind and callgrind_annotate.
Result<ExportNotes> write_callgrind(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
