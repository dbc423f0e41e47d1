#include "import/execution_trace/node_tree.hpp"

#include <algorithm>
#include <numeric>

#include "base/flat_map.hpp"

namespace sonde::execution_trace {

std::vector<Place> lay_out(const std::vector<TreeNode>& nodes, std::uint64_t& cycles) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  const auto count = static_cast<std::uint32_t>(nodes.size());
  FlatMap<std::uint32_t> by_id;
  for (std::uint32_t i = 0; i < count; ++i) {
    by_id.get_or_insert(static_cast<std::uint64_t>(nodes[i].id), i);
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return nodes[a].id < nodes[b].id; });
  // Lists of children, in the order of ids.
  std::vector<std::uint32_t> first(count, kNone);
  std::vector<std::uint32_t> next(count, kNone);
  std::vector<std::uint32_t> roots;
  for (std::size_t at = order.size(); at-- > 0;) {
    const std::uint32_t node = order[at];
    const std::uint32_t* parent = by_id.find(static_cast<std::uint64_t>(nodes[node].parent));
    if (parent == nullptr || *parent == node) {
      roots.push_back(node);
    } else {
      next[node] = first[*parent];
      first[*parent] = node;
    }
  }
  std::vector<Place> places(count);
  std::vector<bool> seen(count);
  Nanos tick = 0;
  std::vector<std::uint32_t> open;
  const auto walk = [&](std::uint32_t root) {
    open.push_back(root);
    seen[root] = true;
    places[root].start = tick++;
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      const std::uint32_t child = first[node];
      if (child == kNone) {
        places[node].duration = tick++ - places[node].start;
        open.pop_back();
        continue;
      }
      first[node] = next[child];
      if (seen[child]) continue;
      seen[child] = true;
      places[child].start = tick++;
      open.push_back(child);
    }
  };
  for (std::size_t at = roots.size(); at-- > 0;) walk(roots[at]);
  for (const std::uint32_t node : order) {
    if (seen[node]) continue;
    ++cycles;
    seen[node] = true;
    places[node] = {tick, 1};
    tick += 2;
  }
  return places;
}

}  // namespace sonde::execution_trace
