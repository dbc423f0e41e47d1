#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::nsys {

// A range that torch.autograd.profiler.emit_nvtx() put around an operator:
// "aten::add, seq = 5, op_id = 12, sizes = [[2, 3], []]".
struct TorchRange {
  std::string_view name;
  std::int64_t sequence = -1;
  std::int64_t op_id = -1;
  std::string_view sizes;  // JSON text; empty where there is none
};

// False for every other range.
bool parse_torch_range(std::string_view text, TorchRange& out);

}  // namespace sonde::nsys
