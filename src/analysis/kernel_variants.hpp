#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// A kernel as it was launched: the same name with another grid is another variant.
struct KernelVariant {
  std::string_view name;
  std::string_view op;  // the framework's operator, without its type
  std::int32_t registers = -1;
  std::int32_t shared_memory = -1;
  std::array<std::int32_t, 3> grid{-1, -1, -1};
  std::array<std::int32_t, 3> block{-1, -1, -1};
  float occupancy = -1;
  bool op_may_use_tensor_core = false;
  bool uses_tensor_core = false;
  std::uint64_t occurrences = 0;
  std::int64_t total_ps = 0;
  std::int64_t min_ps = 0;
  std::int64_t max_ps = 0;
};

// Kernels by name, launch and operator, the greatest total first. Kernels of no length are left
// out.
std::vector<KernelVariant> kernel_variants(const Trace& trace);

// As far as names tell.
bool kernel_uses_tensor_core(std::string_view kernel);
bool op_may_use_tensor_core(std::string_view op);

}  // namespace sonde
