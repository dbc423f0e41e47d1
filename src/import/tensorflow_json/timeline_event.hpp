#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

// One event of a timeline, its texts unescaped.
struct TimelineEvent {
  char phase = '\0';
  std::string name;
  std::string category;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  bool has_id = false;
  std::int64_t id = 0;
  double time_us = 0;
  bool time_is_whole = false;  // Unix times in microseconds are more than a double holds
  std::int64_t whole_time_us = 0;
  double duration_us = 0;
  bool has_time = false;
  bool has_duration = false;

  struct Argument {
    std::string key;
    std::string text;   // of texts, and of values that are neither text nor number, as JSON
    double number = 0;  // of numbers
    bool is_number = false;
    bool is_whole = false;
    std::int64_t whole = 0;
  };
  std::vector<Argument> arguments;
};

// Reads the text of one JSON object; false where it is not well-formed.
class TimelineParser {
 public:
  TimelineParser();
  ~TimelineParser();
  TimelineParser(const TimelineParser&) = delete;
  TimelineParser& operator=(const TimelineParser&) = delete;
  bool parse(std::string_view text, TimelineEvent& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sonde
