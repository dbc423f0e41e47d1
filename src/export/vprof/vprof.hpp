#pragma once

#include "export/exporter.hpp"

namespace sonde {

// vprof's JSON: its curve of memory, its flame graph of samples, its heat map of lines and its
// table of functions, as far as the trace has them.
Result<ExportNotes> write_vprof(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
