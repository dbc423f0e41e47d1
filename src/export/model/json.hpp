#pragma once

#include "export/exporter.hpp"

namespace sonde {

// Everything as one JSON object with a list for each part of the model.
Result<ExportNotes> write_model_json(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
