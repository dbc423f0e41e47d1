#pragma once

#include "export/exporter.hpp"

namespace sonde {

// For speedscope.app: a time line of each track where the trace has slices, else lists of samples.
Result<ExportNotes> write_speedscope(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
