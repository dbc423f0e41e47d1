#pragma once

#include <string>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

struct LineProfilerRequest {
  double unit = 1e-6;      // seconds, of the columns of times
  bool skip_zero = false;  // without functions that took no time
};

// What `python -m line_profiler FILE` of release 4.0 prints.
Result<std::string> line_profiler_text(const NamedTrace& named, const LineProfilerRequest& request);

}  // namespace sonde
