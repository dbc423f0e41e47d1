#pragma once

#include "import/importer.hpp"
#include "import/json/event_splitter.hpp"
#include "import/trace_event/half_slice.hpp"
#include "import/trace_event/reader.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Whether a file's beginning can be a trace-event file: an object, or an array of objects.
bool looks_like_trace_events(std::string_view head);

struct EventFileFacts {
  Metadata metadata;
  bool has_backward_flows = false;
};

// Reads a whole file into `builder`, up to and including nest(). What all formats made of trace
// events have in common. `pair` takes the place of the general rule for begin and end events.
Result<EventFileFacts> read_trace_events(const ImportInput& input, Dialect dialect,
                                         TraceBuilder& builder, PairHalves pair = nullptr);

}  // namespace sonde
