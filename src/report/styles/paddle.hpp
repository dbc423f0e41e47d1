#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace sonde {

// The arguments of paddle.profiler.Profiler.summary().
struct PaddleRequest {
  std::string sort_by;  // one of paddle_sort_keys(); empty: CPUTotal
  bool op_detail = true;
  bool thread_sep = false;
  std::string time_unit = "ms";      // one of paddle_time_units()
  std::vector<std::string> views;    // of paddle_view_names(); empty: all
  std::size_t row_limit = SIZE_MAX;  // in each sorted table
  // Where the trace itself does not tell: shares of 1.
  std::optional<double> process_cpu;
  std::optional<double> system_cpu;
};

// CPUTotal, CPUAvg, … GPUMin.
const std::vector<std::string>& paddle_sort_keys();
// s, ms, us, ns.
const std::vector<std::string>& paddle_time_units();
// The tables in the order in which they are printed.
const std::vector<std::string>& paddle_view_names();

// What the profiler of PaddlePaddle prints for the same recording, byte for byte.
std::string paddle_summary(const Trace& trace, const PaddleRequest& request);

}  // namespace sonde
