#pragma once

#include "export/exporter.hpp"

namespace sonde {

// Perfetto's protobuf trace: processes, threads and streams as tracks, slices as pairs of events,
// arrows as flows, counters as tracks of doubles, arguments as debug annotations.
Result<ExportNotes> write_perfetto(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
