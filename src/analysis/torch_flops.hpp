#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

// An operator's inputs as JSON text, each empty where the trace has none.
struct TorchInputs {
  std::string_view shapes;
  std::string_view types;
  std::string_view concrete;
};

// The floating point operations that PyTorch estimates for one call; a multiplication with an
// addition counts two. 0 for an operator without a formula, and where the inputs do not tell.
std::uint64_t torch_flops(std::string_view name, const TorchInputs& inputs);

// Whether torch_flops() has a formula for the operator.
bool has_torch_flops(std::string_view name);

// The shapes as Python prints the list: "[[32, 3, 224, 224], [], []]". An argument that is a list
// of tensors counts as []. Without shapes "[]".
std::string torch_shapes_text(std::string_view shapes);

}  // namespace sonde
