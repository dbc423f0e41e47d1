#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "analysis/paddle_ranges.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

// Where a phase stands in PaddlePhases; -1 for all other types.
int phase_index(PaddleType type) {
  switch (type) {
    case PaddleType::ProfileStep:
      return 0;
    case PaddleType::Dataloader:
      return 1;
    case PaddleType::Forward:
      return 2;
    case PaddleType::Backward:
      return 3;
    case PaddleType::Optimization:
      return 4;
    default:
      return -1;
  }
}

}  // namespace

void add_paddle_phases(const PaddleTree& tree, PaddleStats& stats) {
  struct Step {
    Nanos start;
    Nanos end;
    Nanos gpu;
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> loose;  // phases outside of every step
  for (const PaddleThread& thread : tree.threads()) {
    std::deque<std::pair<std::uint32_t, bool>> queue;  // a node, and whether a step is around it
    const auto push = [&](std::uint32_t first, bool in_step) {
      for (std::uint32_t i = first; i != kNone; i = tree.nodes()[i].next_sibling)
        queue.emplace_back(i, in_step);
    };
    push(thread.first_root, false);
    while (!queue.empty()) {
      const auto [index, in_step] = queue.front();
      queue.pop_front();
      const PaddleNode& node = tree.nodes()[index];
      const int phase = phase_index(node.type);
      if (phase == 0) {
        stats.phases.cpu[0].add(node.cpu());
        stats.phases.step_general_gpu += node.general_gpu;
        steps.push_back({node.start, node.end, node.gpu});
      } else if (phase > 0) {
        stats.phases.cpu[phase].add(node.cpu());
        stats.phases.gpu[phase].add(node.gpu);
        if (!in_step) loose.push_back(index);
        continue;
      }
      push(node.first_child, in_step || phase == 0);
    }
  }
  // PyTorch's backward pass has a thread of its own: its work belongs to the step that it began in.
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.start < b.start; });
  for (const std::uint32_t index : loose) {
    if (tree.is_paddle()) break;
    const PaddleNode& node = tree.nodes()[index];
    const auto behind =
        std::upper_bound(steps.begin(), steps.end(), node.start,
                         [](Nanos time, const Step& step) { return time < step.start; });
    if (behind == steps.begin() || node.start >= std::prev(behind)->end) continue;
    std::prev(behind)->gpu += node.gpu;
    stats.phases.step_general_gpu += node.general_gpu;
  }
  for (const Step& step : steps) stats.phases.gpu[0].add(step.gpu);
}

}  // namespace sonde
