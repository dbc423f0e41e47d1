#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// The calls of one name that asked for device work.
struct LaunchStats {
  StringId call;
  std::uint64_t calls = 0;
  std::uint64_t work = 0;  // kernels, copies and sets; a graph is one call with many
  Nanos call_time = 0;     // in the calls
  Nanos delay = 0;         // from the start of the call to the start of its work, over all work
  Nanos longest_delay = 0;

  double mean_call() const {
    return calls ? static_cast<double>(call_time) / static_cast<double>(calls) : 0;
  }
  double mean_delay() const {
    return work ? static_cast<double>(delay) / static_cast<double>(work) : 0;
  }
};

// By the calls' names; the most work first.
std::vector<LaunchStats> launch_stats(const Trace& trace);

// How many pieces of device work were asked for and not finished, from a time on.
struct QueuePoint {
  Nanos time = 0;
  std::int64_t length = 0;
};

struct LaunchQueue {
  std::vector<QueuePoint> points;  // ascending; each differs from the one before
  std::int64_t longest = 0;
  double mean = 0;   // over the time from the first call to the end of the last work
  double empty = 0;  // the part of that time, 0 to 1, in which the device had nothing to do
  Nanos begin = 0;
  Nanos end = 0;
};
LaunchQueue launch_queue(const Trace& trace);

// A part of the run: how long the queue was.
struct QueuePart {
  Nanos start = 0;
  Nanos end = 0;
  double mean = 0;
  std::int64_t longest = 0;
};
// `begin` to `end` in that many equal parts.
std::vector<QueuePart> queue_parts(const LaunchQueue& queue, Nanos begin, Nanos end,
                                   std::size_t count);

}  // namespace sonde
