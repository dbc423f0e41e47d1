#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// A runtime or driver call and the device work that it asked for.
struct LaunchNode {
  SliceId slice;
  std::uint32_t first_device = 0;  // in OpTree::device_of()
  std::uint32_t device_count = 0;
  Nanos device_time = 0;  // sum over its device work, concurrent work counted twice
};

// One operator, user range or step on a host thread, with times in nanoseconds.
struct OpNode {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  SliceId slice;
  std::uint32_t parent = kNone;  // index in OpTree::nodes(); kNone at the top of a thread
  std::uint32_t first_launch = 0;
  std::uint32_t launch_count = 0;
  Nanos host_total = 0;
  Nanos host_self = 0;  // without the children and without the own runtime calls
  Nanos device_total = 0;
  Nanos device_self = 0;
};

// A host thread: a run of nodes, and the calls that belong to no operator of it.
struct OpThread {
  TrackId track;
  std::uint32_t first_node = 0;
  std::uint32_t end_node = 0;
  std::vector<std::uint32_t> root_launches;  // indices in OpTree::launches()
};

// The operators of each thread nested by time, with launches and device work attached to them.
// An operator that is the only child of one with the same name is folded into it. An operator that
// overlaps its neighbour partly is left out (and counted).
//
// Nodes lie in post-order, children before parents, thread after thread in the order of first
// appearance; so a loop forward goes bottom-up, a loop backward top-down.
class OpTree {
 public:
  explicit OpTree(const Trace& trace);

  const std::vector<OpNode>& nodes() const { return nodes_; }
  const std::vector<OpThread>& threads() const { return threads_; }

  // All launches of the trace in file order, owned by an operator or not.
  const std::vector<LaunchNode>& launches() const { return launches_; }
  // Indices in launches(), in the order in which the operator got them.
  std::span<const std::uint32_t> launches_of(const OpNode& node) const {
    return {node_launches_.data() + node.first_launch, node.launch_count};
  }
  std::span<const SliceId> device_of(const LaunchNode& launch) const {
    return {launch_device_.data() + launch.first_device, launch.device_count};
  }
  // Device work that no launch in the trace asked for.
  const std::vector<SliceId>& orphans() const { return orphans_; }

  // Operators that were left out since they overlap others partly.
  std::size_t dropped() const { return dropped_; }

 private:
  friend class OpTreeBuilder;

  std::vector<OpNode> nodes_;
  std::vector<OpThread> threads_;
  std::vector<LaunchNode> launches_;
  std::vector<std::uint32_t> node_launches_;
  std::vector<SliceId> launch_device_;
  std::vector<SliceId> orphans_;
  std::size_t dropped_ = 0;
};

// Steps, data loading and the optimizer frame operators but are none.
bool is_listed_operator(const Trace& trace, SliceId slice);
bool is_data_loading(SliceKind kind, std::string_view name);

}  // namespace sonde
