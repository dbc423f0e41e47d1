// The phases of traces whose profiler does not record any.

#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/paddle_tree.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

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

}  // namespace sonde
