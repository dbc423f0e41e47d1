#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/trace_set.hpp"

namespace sonde {

// What a line of source allocated; texts belong to the traces.
struct MemoryLine {
  std::string_view file;
  std::string_view function;
  std::int32_t line = 0;
  std::int64_t allocations = 0;
  std::int64_t allocated = 0;
  std::int64_t net = 0;     // not freed again
  std::int64_t peak = 0;    // live when the process had most
  std::int64_t native = 0;  // of `allocated`: by malloc and its like
};

// By the innermost frame of which the line is known; the processes of a run are added up.
std::vector<MemoryLine> memory_lines(std::span<const Trace* const> traces);

// The process's memory around the executions of a line.
struct ExecutedLine {
  std::string_view file;
  std::string_view function;
  std::int32_t function_line = 0;
  std::int32_t line = 0;
  std::int64_t hits = 0;
  std::int64_t bytes = 0;
  std::int64_t increment = 0;
  std::int64_t peak = 0;
};

// In the order of files, functions and lines; of several processes hits and increments are added
// up, and the largest memory counts.
std::vector<ExecutedLine> executed_lines(std::span<const Trace* const> traces);

inline std::vector<const Trace*> plain_traces(std::span<const NamedTrace> traces) {
  std::vector<const Trace*> out;
  for (const NamedTrace& named : traces) out.push_back(&named.trace);
  return out;
}

}  // namespace sonde
