#pragma once

#include "export/exporter.hpp"

namespace sonde {

// A picture of all stacks in one SVG file that needs nothing else: click to zoom, search, hover.
Result<ExportNotes> write_flamegraph(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
