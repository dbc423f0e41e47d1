#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/tfprof.hpp"
#include "report/table.hpp"

namespace sonde {

struct TfprofRequest {
  std::string order_by;              // one of tfprof_sort_keys(); empty: micros
  std::size_t row_limit = SIZE_MAX;  // rows beyond it still count in the sums
};

// What tfprof calls its columns: name, bytes, micros, accelerator_micros, cpu_micros, occurrence.
const std::vector<std::string>& tfprof_sort_keys();

// The table of tf.profiler's op view.
std::string tfprof_table(const Trace& trace, const TfprofRequest& request);
std::string tfprof_text(const std::vector<TfprofRow>& rows, std::size_t row_limit);
// The same rows as numbers.
Table tfprof_numbers(const Trace& trace, const TfprofRequest& request);

}  // namespace sonde
