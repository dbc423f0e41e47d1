#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

// What all cores together did since the machine was started.
struct MachineTimes {
  std::int64_t busy_nanos = 0;
  std::int64_t total_nanos = 0;  // busy and idle
};

// Reads the first line of /proc/stat.
MachineTimes parse_machine_times(std::string_view text, std::int64_t ticks_per_second);
MachineTimes read_machine_times(const std::string& proc = "/proc");

// Bytes of memory that are not available to a new program.
std::int64_t read_memory_used(const std::string& proc = "/proc");

// Which machine this is, for run.json.
struct MachineFacts {
  std::string host;
  std::string system;        // "Linux 6.1.0"
  std::string architecture;  // "aarch64"
  std::string cpu;           // as far as the machine tells
  std::int64_t cores = 0;    // that this process may use
  std::int64_t memory_bytes = 0;
};
MachineFacts machine_facts(const std::string& proc = "/proc");

}  // namespace sonde
