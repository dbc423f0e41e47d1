#pragma once

#include "import/json/event_splitter.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Reads devices, ranks, clock and options out of a Kineto trace's top-level keys.
void read_kineto_metadata(const Metadata& metadata, TraceBuilder& builder);

// What only the events tell: the accelerator family and the age of the writer. After nest().
void guess_kineto_origin(TraceBuilder& builder);

}  // namespace sonde
