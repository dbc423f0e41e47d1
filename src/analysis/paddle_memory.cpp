#include <algorithm>
#include <string>
#include <unordered_map>

#include "analysis/paddle_ranges.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

std::string place_name(const PaddleTree& tree, const PaddleMemoryEvent& event) {
  if (event.place.valid()) return std::string(tree.trace().text(event.place));
  if (event.device_type == 0) return "Place(cpu)";
  return "Place(gpu:" + std::to_string(std::max(event.device, 0)) + ")";
}

}  // namespace

void add_paddle_memory(const PaddleTree& tree, PaddleStats& stats) {
  struct Rows {
    std::unordered_map<std::uint32_t, std::size_t> allocated;
    std::unordered_map<std::uint32_t, std::size_t> reserved;
  };
  std::vector<Rows> rows;
  std::unordered_map<std::string, std::size_t> place_index;
  const auto place_of = [&](const std::string& name) {
    const auto [at, fresh] = place_index.try_emplace(name, stats.places.size());
    if (fresh) {
      stats.places.emplace_back().name = name;
      rows.emplace_back();
    }
    return at->second;
  };
  const auto add = [&](StringId owner, const PaddleNode& node) {
    for (std::uint32_t i = 0; i < node.memory_count; ++i) {
      const PaddleMemoryEvent& event = tree.memory(node.first_memory + i);
      const std::size_t at = place_of(place_name(tree, event));
      PaddlePlace& place = stats.places[at];
      place.peak_allocated = std::max(place.peak_allocated, event.peak_allocated);
      place.peak_reserved = std::max(place.peak_reserved, event.peak_reserved);
      auto& index = event.reserved ? rows[at].reserved : rows[at].allocated;
      std::vector<PaddleMemoryRow>& list = event.reserved ? place.reserved : place.allocated;
      const auto [row_at, fresh] = index.try_emplace(owner.value, list.size());
      if (fresh) {
        list.emplace_back().name = tree.trace().text(owner);
        list.back().reserved = event.reserved;
      }
      PaddleMemoryRow& row = list[row_at->second];
      const auto bytes = static_cast<std::uint64_t>(event.bytes);
      if (event.frees) {
        ++row.frees;
        row.freed_bytes =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(row.freed_bytes) - bytes);
      } else {
        ++row.allocations;
        row.allocated_bytes =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(row.allocated_bytes) + bytes);
      }
    }
  };
  for (const PaddleThread& thread : tree.threads()) {
    for (const std::uint32_t i : tree.stack_order(thread)) {
      const PaddleNode& node = tree.nodes()[i];
      if (node.type == PaddleType::OperatorInner || !node.name.valid()) continue;
      if (node.type == PaddleType::Operator) {
        for (std::uint32_t child = node.first_child; child != kNone;
             child = tree.nodes()[child].next_sibling) {
          add(node.name, tree.nodes()[child]);
        }
      }
      add(node.name, node);
    }
  }
  // Paddle's own peaks, which its importer keeps as counters.
  for (const CounterValue& value : tree.trace().counters()) {
    if (!tree.is_paddle() || value.value < 0 || value.value > 9e18) continue;
    const std::string_view counter = tree.trace().text(value.counter);
    const auto at = place_index.find(std::string(tree.trace().text(value.series)));
    if (at == place_index.end()) continue;
    PaddlePlace& place = stats.places[at->second];
    const auto bytes = static_cast<std::int64_t>(value.value);
    if (counter == "peak allocated") place.peak_allocated = std::max(place.peak_allocated, bytes);
    if (counter == "peak reserved") place.peak_reserved = std::max(place.peak_reserved, bytes);
  }
  const auto greatest_first = [](const PaddleMemoryRow& a, const PaddleMemoryRow& b) {
    return a.increase() > b.increase();
  };
  for (PaddlePlace& place : stats.places) {
    std::stable_sort(place.allocated.begin(), place.allocated.end(), greatest_first);
    std::stable_sort(place.reserved.begin(), place.reserved.end(), greatest_first);
  }
  // Paddle prints a table for each place with allocations; what is only reserved has none.
  std::erase_if(stats.places, [](const PaddlePlace& place) { return place.allocated.empty(); });
}

}  // namespace sonde
