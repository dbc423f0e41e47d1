#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "import/json/json_cursor.hpp"
#include "trace/trace.hpp"

namespace sonde {

// One record of Paddle's JSON, its texts pointing into the block.
struct PaddleJsonEvent {
  char phase = '\0';
  bool empty = true;  // the {} that ends each list
  std::string_view name;
  std::string_view category;
  std::string_view thread_text;  // "5001(Python)"
  std::int64_t pid = kNoNumber;
  std::int64_t tid = kNoNumber;       // a number in the file, or the digits of thread_text
  std::int64_t stamp = kNoNumber;     // "ts" in nanoseconds
  std::int64_t duration = kNoNumber;  // nanoseconds; kNoNumber where it is none
  std::int64_t start = kNoNumber;     // "start_time", nanoseconds from the start of the trace
  std::int64_t end = kNoNumber;       // "end_time"
  std::int64_t correlation = kNoNumber;
  std::int64_t device = kNoNumber;
  std::int64_t context = kNoNumber;
  std::int64_t stream = kNoNumber;
  std::int64_t registers = kNoNumber;
  std::int64_t shared_memory = kNoNumber;
  std::int64_t bytes = kNoNumber;
  std::int64_t grid[3] = {-1, -1, -1};
  std::int64_t block[3] = {-1, -1, -1};
  double blocks_per_sm = -1;
  double warps_per_sm = -1;
  double occupancy = -1;
  double bandwidth = -1;
  std::string_view shapes;  // JSON text
  std::string_view types;
  std::string_view stack;
  std::string_view place;
  std::string_view metadata_name;  // args.name of a ph M
  std::int64_t address = 0;
  std::int64_t increase = kNoNumber;
  std::int64_t allocated = kNoNumber;
  std::int64_t reserved = kNoNumber;
  std::int64_t peak_allocated = kNoNumber;
  std::int64_t peak_reserved = kNoNumber;
};

// False where the text is not one well-formed object.
bool parse_paddle_event(std::string_view text, PaddleJsonEvent& event);

// The event's own name: without the "[1.234 ms]" that Paddle puts behind it.
std::string_view paddle_event_name(std::string_view name);

// A text that the writer did not escape, or somebody else did: \" \\ \/ and \u are resolved,
// other backslashes stay as they are. `scratch` holds the result where that changes anything.
std::string_view paddle_text(std::string_view raw, std::string& scratch);

}  // namespace sonde
