#pragma once

#include <cstdint>
#include <string_view>

#include "import/json/json_cursor.hpp"
#include "import/trace_event/input_predictor.hpp"
#include "trace/trace.hpp"

namespace sonde {

// pid, tid and id may each be a number or a text.
struct ScalarText {
  enum class Type : std::uint8_t { None, Number, Text };
  Type type = Type::None;
  std::int64_t number = 0;
  RawString text;
};

enum class TimeState : std::uint8_t { Missing, Good, Quoted, Bad };

// The arguments of operators and calls. Texts are JSON of the file.
struct EventArgs {
  std::int64_t external_id = kNoNumber;
  std::int64_t correlation = kNoNumber;
  std::int64_t cbid = kNoNumber;
  std::int64_t sequence = kNoNumber;
  std::int64_t forward_thread = kNoNumber;
  std::int64_t order = kNoNumber;
  std::string_view shapes;
  std::string_view types;
  std::string_view strides;
  std::string_view concrete;
};

// The arguments of all others. Kept apart since clearing them for every event would cost as much as
// reading a short one.
struct RareArgs {
  bool used = false;
  std::int64_t device = kNoNumber;
  std::int64_t stream = kNoNumber;
  std::int64_t context = kNoNumber;
  std::int64_t bytes = kNoNumber;
  std::int64_t registers = kNoNumber;
  std::int64_t shared_memory = kNoNumber;
  std::int64_t grid[3] = {-1, -1, -1};
  std::int64_t block[3] = {-1, -1, -1};
  double blocks_per_sm = -1;
  double warps_per_sm = -1;
  double occupancy = -1;
  double bandwidth = -1;
  std::int64_t python_id = kNoNumber;
  std::int64_t python_parent = kNoNumber;
  std::int64_t python_module = kNoNumber;
  std::int64_t address = 0;
  std::int64_t device_type = kNoNumber;
  std::int64_t device_id = kNoNumber;
  std::int64_t total_allocated = kNoNumber;
  std::int64_t total_reserved = kNoNumber;
  std::int64_t in_elements = kNoNumber;
  std::int64_t out_elements = kNoNumber;
  std::int64_t group_size = kNoNumber;
  std::int64_t collective_sequence = kNoNumber;
  RawString stack;
  RawString module;
  RawString collective;
  RawString dtype;
  RawString group;
  RawString group_description;
  RawString group_ranks;
};

// One event of a trace-event file, its texts pointing into the block.
struct Event {
  char phase = '\0';
  char scope = 't';
  TimeState time_state = TimeState::Missing;
  TimeState duration_state = TimeState::Missing;
  Nanos time = 0;
  Nanos duration = 0;
  RawString category;
  RawString name;
  ScalarText pid;
  ScalarText tid;
  ScalarText id;
  std::string_view args_text;  // with its braces; empty where there is none
  RawString stack_frame;       // "sf": an id in the file's stackFrames
  bool odd_id = false;         // pid or tid is an object, a list or the like
  bool has_unknown_arguments = false;
  EventArgs args;
  RareArgs rare;

  // What the inputs are expected to be, and which of them are (bit i: text i).
  ExpectedInputs* expected = nullptr;
  std::uint32_t as_expected = 0;
  // Where the reader may keep its number of the category for the next event of the same layout;
  // null where the category does not belong to the layout.
  std::uint32_t* category_id = nullptr;

  // As new, but for what no reader looks at: an event is cleared as often as one is read.
  void clear() {
    phase = '\0';
    scope = 't';
    time_state = TimeState::Missing;
    duration_state = TimeState::Missing;
    time = duration = 0;
    category.text = {};
    name.text = {};
    name.has_escapes = category.has_escapes = false;
    pid.type = tid.type = id.type = ScalarText::Type::None;
    pid.number = tid.number = id.number = 0;
    args_text = {};
    stack_frame.text = {};
    odd_id = false;
    has_unknown_arguments = false;
    args = {};
    expected = nullptr;
    as_expected = 0;
    category_id = nullptr;
    if (rare.used) rare = {};
  }
};

// Fills `event` from the text of one JSON object; false where it is not well-formed.
bool parse_event(std::string_view text, Event& event);

}  // namespace sonde
