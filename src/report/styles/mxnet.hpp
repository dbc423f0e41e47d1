#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mxnet_stats.hpp"

namespace sonde {

// The arguments of mxnet.profiler.dumps().
struct MxnetRequest {
  MxnetTable table = MxnetTable::Old;
  std::string
      sort_by;  // one of mxnet_sort_keys(); empty: the total. The old table has its own order
  bool ascending = false;
  std::size_t row_limit = SIZE_MAX;  // in each section
};

// What `sort_by` may be: total, avg, min, max, count.
const std::vector<std::string>& mxnet_sort_keys();

// The aggregate statistics that MXNet prints for the same recording, byte for byte.
std::string mxnet_table(const Trace& trace, const MxnetRequest& request);

// The same as MXNet's JSON: numbers with four significant digits. Unlike MXNet's it is well-formed
// whatever names the trace holds.
std::string mxnet_json(const Trace& trace, const MxnetRequest& request);

}  // namespace sonde
