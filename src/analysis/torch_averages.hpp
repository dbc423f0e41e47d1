#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/torch_tree.hpp"
#include "trace/trace.hpp"

namespace sonde {

struct TorchGrouping {
  bool by_input_shape = false;
  std::size_t stack_frames = 0;  // > 0: group by that many innermost frames of the Python stack
};

// All events of one name on one side (host or device), as PyTorch averages them.
struct TorchAverage {
  std::string name;
  std::string shapes;              // empty where not grouped by
  std::vector<std::string> stack;  // innermost first; empty where not grouped by
  bool device = false;
  bool annotation = false;
  bool async = false;      // the first event is
  bool top_level = false;  // the first event lies in no other
  std::uint64_t calls = 0;
  std::uint64_t flops = 0;
  TorchNumbers sum;
};

// What torch.profiler's key_averages() holds.
struct TorchAverages {
  std::vector<TorchAverage> groups;  // in the order of first appearance
  std::string device_name;           // as in headings: "CUDA"
  bool device_used = false;
  bool profile_memory = false;
  bool with_flops = false;
};

TorchAverages torch_averages(const Trace& trace, const TorchGrouping& grouping = {});

}  // namespace sonde
