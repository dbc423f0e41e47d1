#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/json/json_cursor.hpp"
#include "trace/trace.hpp"

namespace sonde::onnxruntime {

// One argument: the raw JSON of its value, or the text between the quotes.
struct EventArgument {
  std::string_view key;
  std::string_view value;
  bool quoted = false;
  bool has_escapes = false;
};

// One event, pointing into the text that it was parsed from.
struct Event {
  RawString category;
  RawString name;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string_view time;
  std::string_view duration;
  std::vector<EventArgument> arguments;
};

// False where the text is no well-formed event.
bool parse_event(std::string_view text, Event& out);

// [{"float":[64,256]},{"int64":[]}] as two lists: [[64,256],[]] and ["float","int64"]. False where
// the text is something else.
bool split_type_shapes(std::string_view json, std::string& shapes, std::string& types);

// What a node's thread_scheduling_stats come down to.
struct SchedulingStats {
  std::vector<std::pair<std::string, std::int64_t>> main_thread;
  std::int64_t sub_threads = 0;
  std::int64_t sub_thread_runs = 0;
};
bool read_scheduling_stats(std::string_view json, SchedulingStats& out);

}  // namespace sonde::onnxruntime
