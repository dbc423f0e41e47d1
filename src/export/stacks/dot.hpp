#pragma once

#include "export/exporter.hpp"

namespace sonde {

// A call graph for Graphviz, laid out as gprof2dot does it.
Result<ExportNotes> write_dot(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
