#pragma once

#include "export/chrome/event_writer.hpp"

namespace sonde {

// Names, labels and order of processes and threads.
void write_track_metadata(EventWriter& events);

}  // namespace sonde
