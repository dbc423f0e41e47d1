#pragma once

#include <vector>

#include "import/json/event_splitter.hpp"
#include "trace/builder.hpp"

namespace sonde {

// A sample event whose stack is known by an id only.
struct PendingSample {
  Nanos time = 0;
  TrackId track;
  StringId name;
  StringId frame;  // an id in the file's stackFrames; empty where the event has none
  double weight = 1;
};

// Adds the sample events (ph P), each with its stack out of the top-level stackFrames, and the
// samples of the top-level list of that name.
void add_samples(TraceBuilder& builder, const std::vector<PendingSample>& samples,
                 const Metadata& metadata);

}  // namespace sonde
