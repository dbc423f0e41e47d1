#pragma once

#include <string_view>

#include "trace/trace.hpp"

// How advice is put to the users of each framework: what to change is called differently there.
namespace sonde::advice {

// Where the operators of a trace come from, as far as the file's format tells.
enum class Framework { Unknown, PyTorch, Xla, Paddle, MXNet, OnnxRuntime };

Framework framework_of(const Trace& trace);

// What can be done about a trouble, in the framework's own words.
struct Wording {
  std::string_view load_data;
  std::string_view copy_less;
  std::string_view launch_less;  // behind "a larger batch, "
  std::string_view see_host_code;
  std::string_view find_waits;
  std::string_view fuse_kernels;
  std::string_view pin_memory;
  std::string_view overlap_communication;
  std::string_view use_tensor_cores;
  std::string_view use_older_tensor_cores;  // those without bfloat16 and TF32
};

const Wording& wording_for(const Trace& trace);

// "GPU", "TPU", …: what computes.
std::string_view device_word(const Trace& trace);
// "CUDA", "HIP" or the like: whose calls launch work; "runtime" where it has no name.
std::string_view runtime_word(const Trace& trace);

}  // namespace sonde::advice
