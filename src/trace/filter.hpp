#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// Which part of a trace is wanted. Everything that is set must hold.
struct TraceFilter {
  struct Window {
    Nanos from = 0;
    Nanos to = 0;  // not in it any more
  };
  // Slices that overlap one of them, and points in one; empty: all times.
  std::vector<Window> windows;
  // Device work counts where its launch lies, as it does for the steps of a program.
  bool device_work_by_launch = false;
  // All kinds where it is empty.
  std::bitset<kSliceKindCount> kinds;
  bool markers = true;
  bool counters = true;
  bool allocations = true;
  bool samples = true;

  bool takes_all() const {
    return windows.empty() && kinds.none() && markers && counters && allocations && samples;
  }
};

// A new trace with what the filter takes: slices keep their order, whole, with their side tables
// and arguments; links stay where both ends do. Times keep their origin. A call profile has no
// times: it stays unless there are windows.
Trace filter_trace(const Trace& trace, const TraceFilter& filter);

// One trace of several, as of the processes of a run: on one clock where all tell the time of day,
// else from a common start. `labels` (as many as traces) go in front of the names of processes.
Trace merge_traces(const std::vector<const Trace*>& traces, const std::vector<std::string>& labels);

}  // namespace sonde
