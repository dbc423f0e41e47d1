#pragma once

#include "export/exporter.hpp"

namespace sonde {

// One line for each stack: frames from the outermost in, joined by ';', a blank and a weight.
Result<ExportNotes> write_collapsed(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
