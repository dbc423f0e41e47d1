#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/op_tree.hpp"

namespace sonde {

struct KernelStats {
  StringId name;
  std::uint64_t calls = 0;
  Nanos total = 0;
  Nanos max = 0;
  Nanos min = 0;
  // Means weighted by duration; absent where the file does not tell.
  std::optional<double> blocks_per_sm;
  std::optional<double> occupancy;  // per cent

  double mean() const {
    return calls ? static_cast<double>(total) / static_cast<double>(calls) : 0;
  }
};

// All kernels of the trace by name, names ascending by code point.
std::vector<KernelStats> kernel_stats(const Trace& trace);

// Who launched a kernel.
enum class KernelOwner : std::uint8_t {
  Operator,
  Thread,   // a call on a thread with operators, but inside of none
  Unknown,  // no call, or one that cannot be put anywhere
};

struct KernelOperatorStats {
  KernelStats kernel;
  KernelOwner owner = KernelOwner::Unknown;
  StringId op;  // the operator's name, where there is one
};

// Kernels by (name, operator) in the order of collection: those without a launch first, then
// along the operator tree, children before parents, then what is left.
std::vector<KernelOperatorStats> kernel_operator_stats(const Trace& trace, const OpTree& tree);

}  // namespace sonde
