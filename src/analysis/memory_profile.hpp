#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// One allocation or free and what the allocator looked like behind it.
struct MemoryPoint {
  Nanos time = 0;
  std::int64_t bytes = 0;  // > 0: allocated, < 0: freed
  std::int64_t heap = 0;   // allocated in all
  std::int64_t stack = 0;  // reserved by programs
  std::int64_t free = kNoNumber;
  double fragmentation = -1;  // 0 … 1; below 0 where the file does not tell

  std::int64_t in_use() const { return heap + stack; }
};

// Allocations that are alike and alive at the peak.
struct LiveAllocation {
  std::string_view op;
  std::string_view region;
  std::string_view data_type;
  std::string_view shape;
  std::int64_t requested = 0;
  std::int64_t allocated = 0;
  std::uint64_t count = 0;
};

struct AllocatorProfile {
  std::string name;
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::vector<MemoryPoint> points;  // by time
  MemoryPoint peak;                 // where heap and stack are greatest
  std::int64_t capacity = kNoNumber;
  std::int64_t lifetime_peak = kNoNumber;  // since the program began
  std::vector<LiveAllocation> live;        // at the peak, greatest first
  // Allocated at the peak by what came before the recording, or by what the file does not name.
  std::int64_t unexplained = 0;
};

// What the allocators of a trace did, ordered by name. Empty where it has no allocations.
std::vector<AllocatorProfile> memory_profile(const Trace& trace);

// At most about `count` points of `points`: of each stretch the one with the most memory in use.
std::vector<MemoryPoint> sample_points(const std::vector<MemoryPoint>& points, std::size_t count);

}  // namespace sonde
