#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

struct KindCount {
  SliceKind kind = SliceKind::Other;
  std::uint64_t slices = 0;
  Nanos time = 0;  // sum, nested and concurrent slices counted each
};

// What a trace holds, counted.
struct TraceFacts {
  std::vector<KindCount> kinds;  // that occur, in the order of SliceKind
  std::vector<std::pair<std::string, std::uint64_t>> other_categories;  // most first
  std::uint64_t steps = 0;
  std::uint64_t threads = 0;
  std::uint64_t streams = 0;
  std::uint64_t other_tracks = 0;
  std::uint64_t processes = 0;
};

TraceFacts trace_facts(const Trace& trace);

// Whether lengths in this trace are times. They are not in execution traces, which know an order
// only, nor where all there is are kernels without a length.
bool has_times(const Trace& trace);

}  // namespace sonde
