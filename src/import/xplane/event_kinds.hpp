#pragma once

#include "import/xplane/event_facts.hpp"
#include "import/xplane/event_types.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Tells what kind of slice an event is, and which events are the steps: those of one track, one
// after the other.
class EventKinds {
 public:
  explicit EventKinds(TraceBuilder& builder) : builder_(builder) {}

  // Where events have step numbers, others are no steps.
  void begin_plane(bool has_step_numbers) { has_step_numbers_ = has_step_numbers; }

  SliceKind of(const EventType& type, const EventFacts& facts, LineType line, TrackId track,
               Nanos start, Nanos end);

 private:
  SliceKind of_host(const EventType& type, const EventFacts& facts, TrackId track, Nanos start,
                    Nanos end);
  bool is_step(const EventType& type, const EventFacts& facts, TrackId track, Nanos start,
               Nanos end);

  TraceBuilder& builder_;
  bool has_step_numbers_ = false;
  TrackId steps_track_;  // the one that tells what the steps are
  Nanos last_step_end_ = 0;
};

}  // namespace sonde
