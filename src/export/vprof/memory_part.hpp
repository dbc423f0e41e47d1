#pragma once

#include <string>

#include "base/json_writer.hpp"
#include "export/exporter.hpp"

namespace sonde {

// vprof's part "m": the process's memory event by event, and the objects that were made. False
// where the trace tells neither.
bool write_vprof_memory(const ExportInput& input, const std::string& object_name, JsonWriter& json,
                        ExportNotes& notes);

}  // namespace sonde
