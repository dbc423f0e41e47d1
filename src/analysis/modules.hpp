#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// What the modules of a network cost, by name. Device work counts for the module that its launch
// lies in; in a backward pass, for the module of the forward operator that it belongs to.
struct ModuleStats {
  StringId name;
  std::int64_t calls = 0;
  Nanos host_total = 0;  // of outermost calls of this name
  Nanos host_self = 0;   // without modules inside
  Nanos device_total = 0;
  Nanos device_self = 0;      // without that of modules inside
  Nanos device_backward = 0;  // the part of device_total that a backward pass launched
};

// In the order of the first call.
std::vector<ModuleStats> module_stats(const Trace& trace);

}  // namespace sonde
