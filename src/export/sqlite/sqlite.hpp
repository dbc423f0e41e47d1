#pragma once

#include "export/exporter.hpp"

namespace sonde {

// A database with one table for each part of the model, indices, and views with the names resolved:
// see docs/sqlite.md.
Result<ExportNotes> write_sqlite(const ExportInput& input, const std::string& path);

}  // namespace sonde
