#include "analysis/paddle_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>
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

bool is_phase(PaddleType type) {
  return type == PaddleType::Forward || type == PaddleType::Backward ||
         type == PaddleType::Optimization || type == PaddleType::Dataloader ||
         type == PaddleType::ProfileStep;
}

// Operators of PyTorch's backward pass, from the engine's own since 1.9 to "MmBackward" before.
bool is_backward_operator(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function") || name.ends_with("Backward") ||
         name.ends_with("Backward0") || name.ends_with("Backward1");
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
    return std::tuple(left.type, left.tid, left.pid, a) <
           std::tuple(right.type, right.tid, right.pid, b);
  });
  for (const TrackId id : tracks) {
    const Track& track = trace_.track(id);
    PaddleThread thread;
    thread.track = id;
    const bool by_name = track.type != TrackType::Thread || track.tid == 0;
    thread.title = by_name && track.name.valid() ? std::string(trace_.text(track.name))
                                                 : std::to_string(track.tid);
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

// A new node around the siblings from `first` to `last`, which are to get it as their parent.
std::uint32_t PaddleTree::wrap(std::uint32_t first, std::uint32_t last, PaddleType type) {
  PaddleNode node;
  node.type = type;
  node.label = paddle_type_name(type);
  node.start = nodes_[first].start;
  node.end = nodes_[last].end;
  node.thread = nodes_[first].thread;
  node.parent = nodes_[first].parent;
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// The backward pass of each step: from its first operator to its last, on each thread.
void PaddleTree::add_backward() {
  std::vector<Nanos> steps;
  for (const PaddleNode& node : nodes_) {
    if (node.type == PaddleType::Backward) return;
    if (node.type == PaddleType::ProfileStep) steps.push_back(node.start);
  }
  std::sort(steps.begin(), steps.end());
  // Without steps, or with several rounds in one, a new round begins with an operator of the
  // forward pass, on whatever thread.
  std::vector<Nanos> forward;
  const Links& links = trace_.forward_to_backward();
  for (std::size_t i = 0; i < links.size(); ++i)
    forward.push_back(trace_.slices().start(links.from(i)));
  std::sort(forward.begin(), forward.end());
  const auto next_forward = [&](Nanos time) {
    const auto next = std::upper_bound(forward.begin(), forward.end(), time);
    return next == forward.end() ? std::numeric_limits<Nanos>::max() : *next;
  };
  const auto step_of = [&](Nanos time) {
    return std::upper_bound(steps.begin(), steps.end(), time) - steps.begin();
  };
  const std::size_t count = nodes_.size();
  // Siblings by parent, in the order of time: nodes lie in that order.
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> group_of(count, kNone);
  std::vector<std::uint32_t> root_group(threads_.size(), kNone);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t parent = nodes_[i].parent;
    const bool frame = parent == kNone || nodes_[parent].type == PaddleType::ProfileStep ||
                       nodes_[parent].type == PaddleType::PythonUserDefined;
    if (!frame) continue;
    std::uint32_t& group = parent == kNone ? root_group[nodes_[i].thread] : group_of[parent];
    if (group == kNone) {
      group = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    }
    groups[group].push_back(i);
  }
  for (const std::vector<std::uint32_t>& siblings : groups) {
    for (std::size_t i = 0; i < siblings.size();) {
      if (nodes_[siblings[i]].type != PaddleType::Operator ||
          !is_backward_operator(trace_.text(nodes_[siblings[i]].name))) {
        ++i;
        continue;
      }
      const auto step = step_of(nodes_[siblings[i]].start);
      std::size_t last = i;
      for (std::size_t j = i; j < siblings.size(); ++j) {
        const PaddleNode& node = nodes_[siblings[j]];
        if (is_phase(node.type) || step_of(node.start) != step) break;
        if (j > i && next_forward(nodes_[siblings[last]].end) <= node.start) break;
        if (node.type == PaddleType::Operator && is_backward_operator(trace_.text(node.name)))
          last = j;
      }
      const std::uint32_t around = wrap(siblings[i], siblings[last], PaddleType::Backward);
      for (; i <= last; ++i) {
        nodes_[siblings[i]].parent = around;
        nodes_[around].end = std::max(nodes_[around].end, nodes_[siblings[i]].end);
      }
    }
  }
}

// The forward pass of each step: from the first operator that has a backward operator to the last,
// among the outermost of the step. It ends where another phase begins.
void PaddleTree::add_forward() {
  std::vector<Nanos> backward;
  for (const PaddleNode& node : nodes_) {
    if (node.type == PaddleType::Forward) return;
    if (node.type == PaddleType::Backward) backward.push_back(node.start);
  }
  std::sort(backward.begin(), backward.end());
  std::vector<bool> forward(nodes_.size(), false);
  const Links& links = trace_.forward_to_backward();
  bool any = false;
  for (std::size_t i = 0; i < links.size(); ++i) {
    std::uint32_t node = node_of_slice_[links.from(i).index()];
    while (node != kNone && nodes_[node].parent != kNone &&
           nodes_[nodes_[node].parent].type != PaddleType::ProfileStep) {
      node = nodes_[node].parent;
    }
    if (node == kNone || is_phase(nodes_[node].type)) continue;
    forward[node] = any = true;
  }
  if (!any) return;
  const std::size_t count = nodes_.size();
  std::vector<std::vector<std::uint32_t>> groups(count + threads_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t parent = nodes_[i].parent;
    if (parent == kNone)
      groups[count + nodes_[i].thread].push_back(i);
    else if (nodes_[parent].type == PaddleType::ProfileStep)
      groups[parent].push_back(i);
  }
  for (std::vector<std::uint32_t>& siblings : groups) {
    std::sort(siblings.begin(), siblings.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(nodes_[a].start, a) < std::tuple(nodes_[b].start, b);
    });
    for (std::size_t i = 0; i < siblings.size();) {
      if (!forward[siblings[i]]) {
        ++i;
        continue;
      }
      std::size_t last = i;
      for (std::size_t j = i + 1; j < siblings.size(); ++j) {
        const PaddleNode& node = nodes_[siblings[j]];
        const auto next =
            std::upper_bound(backward.begin(), backward.end(), nodes_[siblings[last]].end);
        if (is_phase(node.type) || (next != backward.end() && *next <= node.start)) break;
        if (forward[siblings[j]]) last = j;
      }
      const std::uint32_t around = wrap(siblings[i], siblings[last], PaddleType::Forward);
      for (; i <= last; ++i) {
        nodes_[siblings[i]].parent = around;
        nodes_[around].end = std::max(nodes_[around].end, nodes_[siblings[i]].end);
      }
    }
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

// Gives each call to the host event that the trace names, or to the innermost around it.
void PaddleTree::add_calls() {
  const SliceColumns& slices = trace_.slices();
  struct Owned {
    std::uint32_t owner;  // a node, or behind all of them a thread
    SliceId call;
  };
  std::vector<Owned> owned;
  const auto first_thread = static_cast<std::uint32_t>(nodes_.size());
  for (const SliceId slice : all_slices(trace_)) {
    const std::uint32_t thread = thread_of_track_[slices.track(slice).index()];
    if (is_device_work(slices.kind(slice)) && !trace_.launch_to_device().source(slice).valid()) {
      orphans_.push_back(slice);
    }
    if (!is_launch_call(slices.kind(slice)) || thread == kNone) continue;
    const SliceId named = trace_.operator_to_launch().source(slice);
    std::uint32_t owner = named.valid() ? node_of_slice_[named.index()] : kNone;
    if (owner == kNone || nodes_[owner].thread != thread) owner = node_of_slice_[slice.index()];
    owned.push_back({owner == kNone ? first_thread + thread : owner, slice});
  }
  std::sort(owned.begin(), owned.end(), [&](const Owned& a, const Owned& b) {
    return std::tuple(a.owner, slices.start(a.call), a.call) <
           std::tuple(b.owner, slices.start(b.call), b.call);
  });
  for (const Owned& entry : owned) {
    const auto at = static_cast<std::uint32_t>(calls_.size());
    std::uint32_t* first = nullptr;
    std::uint32_t* count = nullptr;
    if (entry.owner < first_thread) {
      first = &nodes_[entry.owner].first_call;
      count = &nodes_[entry.owner].call_count;
    } else {
      first = &threads_[entry.owner - first_thread].first_call;
      count = &threads_[entry.owner - first_thread].call_count;
    }
    if (*count == 0) *first = at;
    ++*count;
    PaddleCall call;
    call.slice = entry.call;
    call.first_device = static_cast<std::uint32_t>(devices_.size());
    for (const SliceId device : trace_.launch_to_device().targets(entry.call)) {
      if (is_device_work(slices.kind(device))) devices_.push_back(device);
    }
    call.device_count = static_cast<std::uint32_t>(devices_.size()) - call.first_device;
    calls_.push_back(call);
  }
}

// Gives each memory event to the innermost host event around its time.
void PaddleTree::add_memory() {
  struct Timed {
    std::uint32_t thread;
    Nanos time;
    PaddleMemoryEvent event;
    std::uint32_t node = kNone;
  };
  std::vector<Timed> events;
  const auto thread_of = [&](TrackId track) { return thread_of_track_[track.index()]; };
  for (const Allocation& allocation : trace_.allocations()) {
    if (allocation.out_of_memory || thread_of(allocation.track) == kNone) continue;
    PaddleMemoryEvent event;
    if (is_paddle_) event.place = allocation.pool;
    event.device_type = allocation.device_type;
    event.device = allocation.device;
    event.bytes = allocation.bytes;
    event.frees = allocation.bytes < 0;
    if (!is_paddle_) {
      event.peak_allocated = std::max<std::int64_t>(0, allocation.total_allocated);
      event.peak_reserved = std::max<std::int64_t>(0, allocation.total_reserved);
    }
    events.push_back({thread_of(allocation.track), allocation.time, event});
  }
  for (std::uint32_t i = 0; is_paddle_ && i < trace_.markers().size(); ++i) {
    const Marker& marker = trace_.markers()[i];
    if (!marker.category.valid() || thread_of(marker.track) == kNone) continue;
    const std::string_view category = trace_.text(marker.category);
    if (category != "ReservedAllocate" && category != "ReservedFree") continue;
    PaddleMemoryEvent event;
    event.reserved = true;
    event.frees = category == "ReservedFree";
    for (const MarkerArg& argument : trace_.marker_arguments().of(MarkerId(i))) {
      const std::string_view key = trace_.text(argument.key());
      if (key == "place" && argument.type() == ArgType::Text) event.place = argument.text();
      if (key == "increase_bytes" && argument.type() == ArgType::Integer)
        event.bytes = argument.integer();
    }
    events.push_back({thread_of(marker.track), marker.time, event});
  }
  std::stable_sort(events.begin(), events.end(), [](const Timed& a, const Timed& b) {
    return std::tuple(a.thread, a.time) < std::tuple(b.thread, b.time);
  });
  // Both ends of an event belong to it; of two that touch at that very time the earlier one counts.
  std::size_t next = 0;
  std::vector<std::uint32_t> open;
  for (Timed& timed : events) {
    const auto key = [&](std::uint32_t i) { return std::tuple(nodes_[i].thread, nodes_[i].start); };
    const auto close = [&] {
      while (!open.empty() &&
             (nodes_[open.back()].thread != timed.thread || nodes_[open.back()].end < timed.time)) {
        open.pop_back();
      }
    };
    const std::tuple now(timed.thread, timed.time);
    while (next < order_.size() && key(order_[next]) < now) open.push_back(order_[next++]);
    close();
    if (open.empty() || nodes_[open.back()].end > timed.time) {
      while (next < order_.size() && key(order_[next]) == now) open.push_back(order_[next++]);
      close();
    }
    if (!open.empty()) timed.node = open.back();
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Timed& a, const Timed& b) { return a.node < b.node; });
  for (const Timed& timed : events) {
    if (timed.node == kNone) continue;
    PaddleNode& node = nodes_[timed.node];
    if (node.memory_count++ == 0) node.first_memory = static_cast<std::uint32_t>(memory_.size());
    memory_.push_back(timed.event);
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
