#include "analysis/operators.hpp"

#include "base/flat_map.hpp"

namespace sonde {
namespace {

bool by_shape(OperatorGrouping g) {
  return g == OperatorGrouping::NameShape || g == OperatorGrouping::NameShapeStack;
}

bool by_stack(OperatorGrouping g) {
  return g == OperatorGrouping::NameStack || g == OperatorGrouping::NameShapeStack;
}

}  // namespace

std::vector<OperatorStats> operator_stats(const Trace& trace, const OpTree& tree,
                                          OperatorGrouping grouping) {
  std::vector<OperatorStats> groups;
  FlatMap<std::uint32_t> known;
  const auto group_of = [&](StringId name, StringId shapes, StringId stack) -> OperatorStats& {
    const auto next = static_cast<std::uint32_t>(groups.size());
    std::uint64_t key = (std::uint64_t{name.value} << 32) ^ shapes.value;
    key = mix_bits(key) + stack.value;
    for (;; key = mix_bits(key + 1)) {  // two different groups under one key: try the next one
      const std::uint32_t index = known.get_or_insert(key, next);
      if (index == next) return groups.emplace_back(OperatorStats{name, shapes, stack});
      OperatorStats& group = groups[index];
      if (group.name == name && group.shapes == shapes && group.stack == stack) return group;
    }
  };

  for (const OpNode& node : tree.nodes()) {
    if (!is_listed_operator(trace, node.slice)) continue;
    StringId shapes;
    StringId stack;
    if (const OperatorRow* row = trace.operators().find(node.slice)) {
      shapes = trace.inputs(row->inputs).shapes;
      if (!trace.text(row->stack).empty()) stack = row->stack;
    }
    OperatorStats& group =
        group_of(trace.slices().name(node.slice), by_shape(grouping) ? shapes : StringId(),
                 by_stack(grouping) ? stack : StringId());
    ++group.calls;
    group.host_total += node.host_total;
    group.host_self += node.host_self;
    group.device_total += node.device_total;
    group.device_self += node.device_self;
    group.has_stack |= stack.valid();
  }
  return groups;
}

}  // namespace sonde
