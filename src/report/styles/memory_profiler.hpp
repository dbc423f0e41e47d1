#pragma once

#include <string>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// The tables that memory_profiler prints at a program's end: the process's memory line by line, in
// MiB with `precision` digits behind the point.
Result<std::string> memory_profiler_text(const NamedTrace& named, int precision);

}  // namespace sonde
