#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// The types of PaddlePaddle's profiler. Any trace has them, as far as its slices tell.
enum class PaddleType : std::uint8_t {
  Operator,
  Dataloader,
  ProfileStep,
  CudaRuntime,
  Kernel,
  Memcpy,
  Memset,
  UserDefined,
  OperatorInner,
  Forward,
  Backward,
  Optimization,
  Communication,
  PythonOp,
  PythonUserDefined,
  DygraphKernelLaunch,
  StaticKernelLaunch,
  Unknown,  // a type of the file's own
};

std::string_view paddle_type_name(PaddleType type);

// A runtime or driver call with the device work that it launched.
struct PaddleCall {
  SliceId slice;
  std::uint32_t first_device = 0;  // in PaddleTree::devices
  std::uint32_t device_count = 0;
};

// A host event. Times in nanoseconds.
struct PaddleNode {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  PaddleType type = PaddleType::Operator;
  std::string_view label;  // the name of the type
  StringId name;           // invalid for a phase that was put together
  SliceId slice;           // likewise
  Nanos start = 0;
  Nanos end = 0;
  Nanos gpu = 0;          // kernels of the whole subtree, each counted in full
  Nanos general_gpu = 0;  // copies and memsets as well
  std::uint64_t flops = 0;
  std::uint32_t thread = 0;
  std::uint32_t parent = kNone;
  std::uint32_t first_child = kNone;  // children in the order of time
  std::uint32_t next_sibling = kNone;
  std::uint32_t first_call = 0;  // in PaddleTree::calls
  std::uint32_t call_count = 0;
  std::uint32_t first_memory = 0;  // in PaddleTree::memory
  std::uint32_t memory_count = 0;

  Nanos cpu() const { return end - start; }
};

// A memory event.
struct PaddleMemoryEvent {
  StringId place;  // where the trace has Paddle's own text
  std::int32_t device_type = 0;
  std::int32_t device = -1;
  std::int64_t bytes = 0;
  std::int64_t peak_allocated = 0;
  std::int64_t peak_reserved = 0;
  bool frees = false;
  bool reserved = false;
};

struct PaddleThread {
  TrackId track;
  std::string title;                             // its id, or a name where it has none
  std::uint32_t first_root = PaddleNode::kNone;  // the first of its outermost nodes
  std::uint32_t first_call = 0;                  // calls outside of every node
  std::uint32_t call_count = 0;
};

// The host events of each thread as a tree, as PaddlePaddle's profiler builds it.
//
// Traces of other profilers have no layers and no backward pass among their events. There the
// modules are the forward pass, or what lies between the first and the last operator that has a
// backward operator; the backward pass is what lies between its first and its last operator.
class PaddleTree {
 public:
  explicit PaddleTree(const Trace& trace);

  const Trace& trace() const { return trace_; }
  bool is_paddle() const { return is_paddle_; }
  const std::vector<PaddleNode>& nodes() const { return nodes_; }
  const std::vector<PaddleThread>& threads() const { return threads_; }  // by id, ascending
  const PaddleCall& call(std::uint32_t i) const { return calls_[i]; }
  SliceId device(std::uint32_t i) const { return devices_[i]; }
  const PaddleMemoryEvent& memory(std::uint32_t i) const { return memory_[i]; }
  // Device work that no call launched.
  const std::vector<SliceId>& orphans() const { return orphans_; }

  // All nodes of a thread, each before its children, the last child first: Paddle's order, which
  // shows in tables that are not sorted.
  std::vector<std::uint32_t> stack_order(const PaddleThread& thread) const;
  // The node itself and all below it, in the same way.
  std::vector<std::uint32_t> stack_order(std::uint32_t node) const;

 private:
  void add_threads();
  void add_nodes();
  void add_backward();
  void add_forward();
  std::uint32_t wrap(std::uint32_t first, std::uint32_t last, PaddleType type);
  void link_children();
  void add_calls();
  void add_memory();
  void sum_up();

  const Trace& trace_;
  bool is_paddle_ = false;
  std::vector<PaddleNode> nodes_;
  std::vector<PaddleThread> threads_;
  std::vector<std::uint32_t> thread_of_track_;
  std::vector<std::uint32_t> node_of_slice_;
  std::vector<std::uint32_t> order_;  // of nodes: by thread, parents before children, by time
  std::vector<PaddleCall> calls_;
  std::vector<SliceId> devices_;
  std::vector<PaddleMemoryEvent> memory_;
  std::vector<SliceId> orphans_;
};

}  // namespace sonde
