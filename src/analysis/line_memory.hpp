#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/source_lines.hpp"
#include "trace/trace.hpp"

namespace sonde {

// The process's memory line by line, one table for each function. Texts belong to the trace.
struct LineMemory {
  struct Line {
    std::int64_t hits = 0;
    std::int64_t peak = 0;       // bytes in use after the line, at most
    std::int64_t increment = 0;  // bytes, sum of the changes
  };
  struct Function {
    std::string_view file;
    std::string_view name;
    bool has_source = false;
    std::int64_t first = 1;  // the lines of its source; those with numbers where there is none
    std::int64_t end = 1;
    std::map<std::int64_t, Line> lines;
  };
  std::vector<Function> functions;  // in the order of the recording
};

// What is nested in the source of another function of the list (comprehensions, lambdas, inner
// functions) counts there, as memory_profiler has it.
LineMemory line_memory(const Trace& trace, SourceFiles& files);

}  // namespace sonde
