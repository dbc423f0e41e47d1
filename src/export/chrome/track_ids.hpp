#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// A pid or tid of a trace-event file: a number, or a text as PyTorch's "Spans".
struct EventId {
  std::int64_t number = 0;
  bool is_text = false;
  std::string text;
};

struct TrackIds {
  EventId pid;
  EventId tid;
  bool lane = false;  // asynchronous: the events carry a category and an id instead of a tid
  std::string lane_category;
  std::string lane_id;
};

// Gives each track a pid and a tid that no other track has. A track of a file that was written this
// way gets back what it had.
std::vector<TrackIds> assign_track_ids(const Trace& trace);

void append_event_id(std::string& out, const EventId& id);

}  // namespace sonde
