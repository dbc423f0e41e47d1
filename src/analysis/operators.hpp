#pragma once

#include <cstdint>
#include <vector>

#include "analysis/op_tree.hpp"

namespace sonde {

enum class OperatorGrouping : std::uint8_t { Name, NameShape, NameStack, NameShapeStack };

struct OperatorStats {
  StringId name;
  StringId shapes;  // JSON text of "Input Dims"; invalid where absent or not grouped by
  StringId stack;   // invalid where absent or not grouped by
  std::uint64_t calls = 0;
  Nanos host_total = 0;
  Nanos host_self = 0;
  Nanos device_total = 0;
  Nanos device_self = 0;
  bool has_stack = false;  // any of the calls has one
};

// The operators (no steps, data loading, optimizer frames) in the order of first collection:
// threads as they appear, each tree children first.
std::vector<OperatorStats> operator_stats(const Trace& trace, const OpTree& tree,
                                          OperatorGrouping grouping);

}  // namespace sonde
