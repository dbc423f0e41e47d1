#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/function_profile.hpp"

namespace sonde {

// What the lines of each function cost, as line profilers tell it. Texts belong to the trace.
struct LineReport {
  struct Line {
    std::int32_t line = 0;
    std::int64_t hits = 0;
    double ticks = 0;
  };
  struct Function {
    std::string_view file;
    std::int32_t line = 0;
    std::string_view name;
    std::vector<Line> lines;  // in the order of the source, each once
    double ticks = 0;         // of all lines
  };

  std::vector<Function> functions;  // by file, line and name
  ProfileSource source = ProfileSource::None;
  ProfileCost cost;
  double tick = 1e-9;        // seconds; 1 where the cost is no time
  bool with_callees = true;  // whether a line's time has that of what it called
};

// Without functions where the trace knows nothing of lines.
LineReport line_report(const Trace& trace);

}  // namespace sonde
