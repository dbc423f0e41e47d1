#pragma once

#include "export/exporter.hpp"

namespace sonde {

// Chrome's trace-event format, as chrome://tracing, Perfetto and Sonde read it. A trace of
// PyTorch's profiler becomes again one that HTA and TensorBoard read.
Result<ExportNotes> write_chrome(const ExportInput& input, BufferedOutput& out);

}  // namespace sonde
