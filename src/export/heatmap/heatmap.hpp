#pragma once

#include "export/exporter.hpp"

namespace sonde {

// A page of source with what each line cost: one HTML file that needs nothing else.
Result<ExportNotes> write_heatmap(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
