#pragma once

#include "export/chrome/event_writer.hpp"

namespace sonde {

// Samples come in two forms: as events of a thread, all worth 1, and as a list with weights behind
// the events. Those of a list are told by the name that Sonde's reader gives their track, or by a
// weight.
void write_sample_events(EventWriter& events);
// Behind the events: the list, and the frames that both forms refer to.
void write_sample_tables(EventWriter& events);

}  // namespace sonde
