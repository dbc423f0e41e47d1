#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/styles/torch_layout.hpp"
#include "report/table.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// The arguments of key_averages() and of table() in torch.profiler.
struct TorchTableRequest {
  std::string sort_by;  // one of torch_sort_keys(); empty: in the order of first appearance
  std::int64_t row_limit = 100;  // below 0: all rows
  bool group_by_input_shape = false;
  std::size_t group_by_stack_n = 0;
  std::optional<std::string> header;
  bool top_level_events_only = false;
  TorchWidths max_width;
};

// What `sort_by` may be, "cuda" standing for any device: "device", "xpu" and "privateuse1" in its
// place mean the same.
const std::vector<std::string>& torch_sort_keys();

// The table that torch.profiler prints for the same recording, byte for byte; empty where there is
// nothing to list. An unknown sort key is an Error of usage.
Result<std::string> torch_table(const NamedTrace& trace, const TorchTableRequest& request);

// The same rows as numbers: times in nanoseconds, sizes in bytes.
Result<Table> torch_averages_table(const NamedTrace& trace, const TorchTableRequest& request);

}  // namespace sonde
