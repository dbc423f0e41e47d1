#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sonde {

// Passes the JSON text of a trace through, chunk by chunk, and puts further events at the end of
// its event array: the member "traceEvents", or the whole file where that is an array.
//
// An array that the file does not close is closed, if the file ends between two events. Text that
// has no event array, or breaks off within an event, passes unchanged.
class EventsAppender {
 public:
  // False when nobody listens any more.
  using Sink = std::function<bool(std::string_view)>;

  // `events` are JSON objects with commas between them; may be empty.
  EventsAppender(std::string events, Sink sink)
      : events_(std::move(events)), sink_(std::move(sink)) {}

  bool feed(std::string_view chunk);
  bool finish();

 private:
  enum class Place : std::uint8_t { Before, Inside, After };  // as seen from the event array

  // Takes note of one character outside of strings; true where the events belong before it.
  bool step(char c);
  bool write_events();

  std::string events_;
  Sink sink_;
  std::string text_;  // of the string just read, while it may be a key of the outermost object
  std::string key_;
  std::uint64_t depth_ = 0;
  std::uint64_t array_depth_ = 0;
  Place place_ = Place::Before;
  char last_ = 0;  // the last character outside of strings that is no blank; '"' for a string
  bool in_string_ = false;
  bool escaped_ = false;
  bool object_outside_ = false;
};

}  // namespace sonde
