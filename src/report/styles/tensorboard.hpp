#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "trace/trace_set.hpp"

namespace sonde {

// One question to the PyTorch profiler plugin of TensorBoard.
struct TensorboardRequest {
  // "overview", "operation", "operation/table", "operation/stack", "kernel", "kernel/table"
  std::string view = "overview";
  // Operators: "Operation" or "OperationAndInputShape". Kernels: "Kernel" or
  // "KernelNameAndOpName". Empty: "Operation" and "Kernel".
  std::string group_by;
  std::string op_name;                     // of operation/stack
  std::optional<std::string> input_shape;  // of operation/stack
  std::size_t workers = 1;                 // how many workers the run has
};

// The views in the order in which they are listed to users.
const std::vector<std::string_view>& tensorboard_view_names();

// The response body, one line of JSON without a newline at its end.
Result<std::string> tensorboard_view(const NamedTrace& trace, const TensorboardRequest& request);
Result<std::string> tensorboard_view(const Trace& trace, const TensorboardRequest& request);

}  // namespace sonde
