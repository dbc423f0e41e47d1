#include "analysis/paddle_tree.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "analysis/paddle_flops.hpp"
#include "analysis/torch_flops.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

constexpr std::array<std::string_view, 18> kTypeNames = {"Operator",
                                                         "Dataloader",
                                                         "ProfileStep",
                                                         "CudaRuntime",
                                                         "Kernel",
                                                         "Memcpy",
                                                         "Memset",
                                                         "UserDefined",
                                                         "OperatorInner",
                                                         "Forward",
                                                         "Backward",
                                                         "Optimization",
                                                         "Communication",
                                                         "PythonOp",
                                                         "PythonUserDefined",
                                                         "DygraphKernelLaunch",
                                                         "StaticKernelLaunch",
                                                         "Unknown"};

// What a host slice is to Paddle; nothing for slices that its trees do not have: Python functions,
// the profiler's own work, and records that say once more what another one says.
bool host_type(const Trace& trace, SliceId slice, bool is_paddle, PaddleType& type,
               std::string_view& label) {
  const StringId* category = trace.categories().find(slice);
  const std::string_view word = category != nullptr ? trace.text(*category) : std::string_view();
  const auto found = std::find(kTypeNames.begin(), kTypeNames.end() - 1, word);
  switch (trace.slices().kind(slice)) {
    case SliceKind::Step:
      type = PaddleType::ProfileStep;
      break;
    case SliceKind::Operator:
      type = PaddleType::Operator;
      break;
    case SliceKind::Forward:
    case SliceKind::Module:
      type = PaddleType::Forward;
      break;
    case SliceKind::Backward:
      type = PaddleType::Backward;
      break;
    case SliceKind::Optimizer:
      type = PaddleType::Optimization;
      break;
    case SliceKind::DataLoader:
      type = PaddleType::Dataloader;
      break;
    case SliceKind::Communication:
      type = PaddleType::Communication;
      break;
    case SliceKind::Api:
      type = PaddleType::UserDefined;
      break;
    case SliceKind::OperatorInner:
      type = PaddleType::OperatorInner;
      if (is_paddle && found != kTypeNames.end() - 1)
        type = static_cast<PaddleType>(found - kTypeNames.begin());
      break;
    case SliceKind::UserRange:
      type = PaddleType::PythonUserDefined;
      if (is_paddle && found != kTypeNames.end() - 1) {
        type = static_cast<PaddleType>(found - kTypeNames.begin());
      } else if (is_paddle && !word.empty()) {
        type = PaddleType::Unknown;
        label = word;
        return true;
      }
      break;
    default:
      return false;
  }
  label = paddle_type_name(type);
  return true;
}

}  // namespace

std::string_view paddle_type_name(PaddleType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

PaddleTree::PaddleTree(const Trace& trace)
    : trace_(trace), is_paddle_(trace.meta().format == "paddle") {
  add_threads();
  add_nodes();
  if (!is_paddle_) {
    add_backward();
    add_forward();
  }
  link_children();
  add_calls();
  add_memory();
  sum_up();
}

void PaddleTree::add_threads() {
  thread_of_track_.assign(trace_.tracks().size(), kNone);
  std::vector<bool> has_host(trace_.tracks().size(), false);
  for (const SliceId slice : all_slices(trace_)) {
    PaddleType type{};
    std::string_view label;
    has_host[trace_.slices().track(slice).index()] =
        has_host[trace_.slices().track(slice).index()] ||
        host_type(trace_, slice, is_paddle_, type, label) ||
        is_launch_call(trace_.slices().kind(slice));
  }
  std::vector<TrackId> tracks;
  for (const TrackId id : all_tracks(trace_)) {
    if (has_host[id.index()] && trace_.track(id).type != TrackType::Stream) tracks.push_back(id);
  }
  std::sort(tracks.begin(), tracks.end(), [&](TrackId a, TrackId b) {
    const Track& left = trace_.track(a);
    const Track& right = trace_.track(b);
    // Ids of threads take all 64 bits.
    return std::tuple(left.type, static_cast<std::uint64_t>(left.tid), left.pid, a) <
           std::tuple(right.type, static_cast<std::uint64_t>(right.tid), right.pid, b);
  });
  for (const TrackId id : tracks) {
    const Track& track = trace_.track(id);
    PaddleThread thread;
    thread.track = id;
    const bool by_name = !is_paddle_ && (track.type != TrackType::Thread || track.tid == 0);
    thread.title = by_name && track.name.valid()
                       ? std::string(trace_.text(track.name))
                       : std::to_string(static_cast<std::uint64_t>(track.tid));
    thread_of_track_[id.index()] = static_cast<std::uint32_t>(threads_.size());
    threads_.push_back(std::move(thread));
  }
}

void PaddleTree::add_nodes() {
  const SliceColumns& slices = trace_.slices();
  std::vector<SliceId> order;
  for (const SliceId slice : all_slices(trace_)) {
    if (thread_of_track_[slices.track(slice).index()] != kNone) order.push_back(slice);
  }
  // Around before inside: then a slice's parent has its node already.
  std::sort(order.begin(), order.end(), [&](SliceId a, SliceId b) {
    return std::tuple(thread_of_track_[slices.track(a).index()], slices.start(a),
                      -slices.duration(a),
                      a) < std::tuple(thread_of_track_[slices.track(b).index()], slices.start(b),
                                      -slices.duration(b), b);
  });
  node_of_slice_.assign(trace_.slice_count(), kNone);
  for (const SliceId slice : order) {
    const SliceId up = slices.parent(slice);
    const std::uint32_t outer = up.valid() ? node_of_slice_[up.index()] : kNone;
    PaddleNode node;
    if (!host_type(trace_, slice, is_paddle_, node.type, node.label)) {
      node_of_slice_[slice.index()] = outer;
      continue;
    }
    node.name = slices.name(slice);
    node.slice = slice;
    node.start = slices.start(slice);
    node.end = slices.end(slice);
    node.thread = thread_of_track_[slices.track(slice).index()];
    node.parent = outer;
    if (const OperatorRow* row = trace_.operators().find(slice); row && row->inputs.valid()) {
      const OperatorInputs& in = trace_.inputs(row->inputs);
      const std::string_view shapes = in.shapes.valid() ? trace_.text(in.shapes) : "";
      const auto text = [&](StringId id) { return id.valid() ? trace_.text(id) : ""; };
      node.flops =
          shapes.starts_with('{')
              ? paddle_flops(trace_.name(slice), shapes)
              : torch_flops(trace_.name(slice), {shapes, text(in.types), text(in.concrete)});
    }
    node_of_slice_[slice.index()] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
  }
}

void PaddleTree::link_children() {
  std::vector<std::uint32_t> depth(nodes_.size(), kNone);
  std::vector<std::uint32_t> way;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    std::uint32_t up = i;
    for (; up != kNone && depth[up] == kNone; up = nodes_[up].parent) way.push_back(up);
    std::uint32_t below = up == kNone ? 0 : depth[up] + 1;
    for (; !way.empty(); way.pop_back()) depth[way.back()] = below++;
  }
  order_.resize(nodes_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(nodes_[a].thread, nodes_[a].start, -nodes_[a].end, depth[a], a) <
           std::tuple(nodes_[b].thread, nodes_[b].start, -nodes_[b].end, depth[b], b);
  });
  std::vector<std::uint32_t> last_child(nodes_.size(), kNone);
  std::vector<std::uint32_t> last_root(threads_.size(), kNone);
  for (const std::uint32_t i : order_) {
    const std::uint32_t parent = nodes_[i].parent;
    std::uint32_t& last = parent == kNone ? last_root[nodes_[i].thread] : last_child[parent];
    if (last != kNone)
      nodes_[last].next_sibling = i;
    else if (parent == kNone)
      threads_[nodes_[i].thread].first_root = i;
    else
      nodes_[parent].first_child = i;
    last = i;
  }
}

void PaddleTree::sum_up() {
  const SliceColumns& slices = trace_.slices();
  for (auto i = order_.rbegin(); i != order_.rend(); ++i) {
    PaddleNode& node = nodes_[*i];
    for (std::uint32_t c = 0; c < node.call_count; ++c) {
      const PaddleCall& call = calls_[node.first_call + c];
      for (std::uint32_t d = 0; d < call.device_count; ++d) {
        const SliceId device = devices_[call.first_device + d];
        node.general_gpu += slices.duration(device);
        if (slices.kind(device) == SliceKind::Kernel) node.gpu += slices.duration(device);
      }
    }
    if (node.parent == kNone) continue;
    PaddleNode& parent = nodes_[node.parent];
    parent.gpu += node.gpu;
    parent.general_gpu += node.general_gpu;
    parent.flops += node.flops;
  }
}

std::vector<std::uint32_t> PaddleTree::stack_order(const PaddleThread& thread) const {
  std::vector<std::uint32_t> out;
  std::vector<std::uint32_t> stack;
  for (std::uint32_t i = thread.first_root; i != kNone; i = nodes_[i].next_sibling)
    stack.push_back(i);
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    out.push_back(node);
    for (std::uint32_t i = nodes_[node].first_child; i != kNone; i = nodes_[i].next_sibling)
      stack.push_back(i);
  }
  return out;
}

std::vector<std::uint32_t> PaddleTree::stack_order(std::uint32_t top) const {
  std::vector<std::uint32_t> out;
  std::vector<std::uint32_t> stack = {top};
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    out.push_back(node);
    for (std::uint32_t i = nodes_[node].first_child; i != kNone; i = nodes_[i].next_sibling)
      stack.push_back(i);
  }
  return out;
}

}  // namespace sonde
