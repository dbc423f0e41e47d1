#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// Help with event text that is not well-formed JSON: raw quotes in names above all, which turn
// "inside" and "outside" of strings around for everything that follows.

// Where, in text that begins with an event, the last event but one seems to end: the place behind
// a "}" that is followed by ", {" and a key that events have. npos where there is no such place.
std::size_t last_event_boundary(std::string_view text);

// Where, in text that begins with the last event of the file, that event seems to end: behind a "}"
// that is followed by "]" and the end of the file or another top-level key.
struct EventEnd {
  std::size_t at = std::string_view::npos;
  bool keys_follow = false;
};
EventEnd end_of_last_event(std::string_view text);

// Where the next event seems to begin: a "{" behind a comma, followed by a key that events have.
std::size_t next_event_start(std::string_view text);

// Where a number, word or string at the start of `text` ends, if the list of events goes on or ends
// right behind it; npos otherwise.
std::size_t plain_value_end(std::string_view text);

// Cuts text into what look like single events.
std::vector<std::string_view> split_leniently(std::string_view text);

// Writes the event to `out` with the quotes escaped that seem to stand inside of strings.
void mend_quotes(std::string_view event, std::string& out);

}  // namespace sonde
