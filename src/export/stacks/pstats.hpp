#pragma once

#include "export/exporter.hpp"

namespace sonde {

// For Python's pstats module, SnakeViz and all that read cProfile's files.
Result<ExportNotes> write_pstats(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
