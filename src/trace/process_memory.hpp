#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/ids.hpp"

namespace sonde {

// What is known of a process's memory by place and by type, as sums instead of a list of
// allocations.
struct ProcessMemory {
  // What one stack allocated, all of it in estimate where the recording took samples.
  struct Site {
    StackId stack;
    bool native = false;  // by malloc and its like, not by the interpreter's allocators
    std::int64_t allocations = 0;
    std::int64_t allocated_bytes = 0;
    std::int64_t frees = 0;
    std::int64_t freed_bytes = 0;
    std::int64_t peak_bytes = 0;  // live when the whole was largest

    std::int64_t live_bytes() const { return allocated_bytes - freed_bytes; }
  };

  // The process's memory around the executions of a line.
  struct Line {
    StringId file;
    StringId function;
    std::int32_t function_line = 0;
    std::int32_t line = 0;
    std::int64_t hits = 0;
    std::int64_t bytes = 0;      // in use after the last execution
    std::int64_t increment = 0;  // sum of the changes
    std::int64_t peak = 0;       // the most in use after one
  };

  struct ObjectType {
    StringId name;
    std::int64_t count = 0;
    std::int64_t bytes = 0;  // shallow
  };
  // The objects of a moment.
  struct Snapshot {
    StringId label;
    std::int64_t time = 0;  // nanoseconds, as all times of the trace
    std::vector<ObjectType> types;
  };

  std::vector<Site> sites;
  std::vector<Line> lines;
  std::vector<Snapshot> snapshots;

  bool empty() const { return sites.empty() && lines.empty() && snapshots.empty(); }
  std::size_t bytes() const {
    std::size_t sum = sites.size() * sizeof(Site) + lines.size() * sizeof(Line);
    for (const Snapshot& snapshot : snapshots) {
      sum += sizeof(Snapshot) + snapshot.types.size() * sizeof(ObjectType);
    }
    return sum;
  }
};

}  // namespace sonde
