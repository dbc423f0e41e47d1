#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.hpp"

namespace sonde {

// "python 4711/4712 [003] 203265.377019: 1001001 cpu-clock: ..."
struct PerfHeader {
  std::string_view command;
  std::int64_t pid = 0;  // equal to tid where the file has one of them only
  std::int64_t tid = 0;
  std::int64_t cpu = -1;
  std::optional<Nanos> time;
  std::optional<std::int64_t> period;
  std::string_view event;
  std::string_view rest;  // behind the event: the place, where there is no call chain
};

// "ffff804d8598 __libc_start_main+0x98 (/usr/lib/libc.so.6)"
struct PerfFrame {
  std::string_view symbol;
  std::string_view object;
};

std::optional<PerfHeader> parse_perf_header(std::string_view line);
std::optional<PerfFrame> parse_perf_frame(std::string_view line);

}  // namespace sonde
