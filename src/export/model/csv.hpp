#pragma once

#include "export/exporter.hpp"

namespace sonde {

// Everything in one table: a row for each slice, marker, counter value, allocation, sample and
// link.
Result<ExportNotes> write_model_csv(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
