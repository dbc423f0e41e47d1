#include "analysis/paddle_stats.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <type_traits>

#include "analysis/paddle_ranges.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

// Finds the items of lists that keep the order of first appearance. A list is known by the names of
// what it is in, from the outside: the operator and its child.
class ByName {
 public:
  template <class Item>
  Item& of(StringId name, std::vector<Item>& list, StringId outer = {}, StringId inner = {}) {
    const auto [at, fresh] = index_.try_emplace(
        std::tuple(name, outer, inner, std::is_same_v<Item, PaddleItem>), list.size());
    if (fresh) {
      list.emplace_back();
      list.back().name = name;
    }
    return list[at->second];
  }

 private:
  std::map<std::tuple<StringId, StringId, StringId, bool>, std::size_t> index_;
};

class StatsBuilder {
 public:
  StatsBuilder(const PaddleTree& tree, PaddleStats& stats) : tree_(tree), stats_(stats) {}

  void add_threads(bool by_thread) {
    ByName operators;
    ByName ranges;
    ByName manipulations;
    ByName kernels;
    if (!by_thread) {
      stats_.operators.resize(1);
      stats_.user_ranges.resize(1);
    }
    for (const PaddleThread& thread : tree_.threads()) {
      const std::vector<std::uint32_t> order = tree_.stack_order(thread);
      if (by_thread) {
        operators = {};
        ranges = {};
        stats_.operators.push_back({thread.title, {}});
        stats_.user_ranges.push_back({thread.title, {}});
      }
      for (const std::uint32_t i : order) {
        const PaddleNode& node = tree_.nodes()[i];
        if (node.type == PaddleType::Operator) {
          add_operator(node, operators);
        } else if (node.type == PaddleType::UserDefined ||
                   node.type == PaddleType::PythonUserDefined) {
          if (is_memory_manipulation(tree_.trace().text(node.name)))
            add_times(node, manipulations.of(node.name, stats_.memory_manipulation));
          else if (node.type == PaddleType::PythonUserDefined)
            add_times(node, ranges.of(node.name, stats_.user_ranges.back().items));
        }
      }
      add_kernels(thread.first_call, thread.call_count, kernels);
      for (const std::uint32_t i : order) {
        add_kernels(tree_.nodes()[i].first_call, tree_.nodes()[i].call_count, kernels);
      }
    }
    for (const SliceId slice : tree_.orphans()) add_kernel(slice, kernels);
    for (auto* lists : {&stats_.operators, &stats_.user_ranges}) {
      std::erase_if(*lists, [](const PaddleThreadItems& list) { return list.items.empty(); });
    }
  }

 private:
  static bool is_memory_manipulation(std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* word : {"memcpy", "memorycopy", "memset"}) {
      if (lower.find(word) != std::string::npos) return true;
    }
    return false;
  }

  static void add_times(const PaddleNode& node, PaddleItem& item) {
    item.cpu.add(node.cpu());
    item.gpu.add(node.gpu);
    item.general_gpu.add(node.general_gpu);
    item.flops += node.flops;
  }

  template <class Find>
  void add_devices(const PaddleNode& node, Find find) {
    const SliceColumns& slices = tree_.trace().slices();
    for (std::uint32_t c = 0; c < node.call_count; ++c) {
      const PaddleCall& call = tree_.call(node.first_call + c);
      for (std::uint32_t d = 0; d < call.device_count; ++d) {
        const SliceId device = tree_.device(call.first_device + d);
        find(slices.name(device)).gpu.add(slices.duration(device));
      }
    }
  }

  void add_operator(const PaddleNode& node, ByName& names) {
    PaddleItem& item = names.of(node.name, stats_.operators.back().items);
    add_times(node, item);
    for (std::uint32_t i = node.first_child; i != kNone; i = tree_.nodes()[i].next_sibling) {
      const PaddleNode& child = tree_.nodes()[i];
      if (child.type == PaddleType::Operator) continue;
      PaddleItem& inner = names.of(child.name, item.inner, node.name);
      add_times(child, inner);
      add_devices(child, [&](StringId name) -> PaddleDeviceItem& {
        return names.of(name, inner.devices, node.name, child.name);
      });
    }
    add_devices(node, [&](StringId name) -> PaddleDeviceItem& {
      return names.of(name, item.devices, node.name);
    });
  }

  void add_kernel(SliceId device, ByName& kernels) {
    const SliceColumns& slices = tree_.trace().slices();
    if (slices.kind(device) != SliceKind::Kernel) return;
    kernels.of(slices.name(device), stats_.kernels).gpu.add(slices.duration(device));
  }

  void add_kernels(std::uint32_t first, std::uint32_t count, ByName& kernels) {
    for (std::uint32_t c = 0; c < count; ++c) {
      const PaddleCall& call = tree_.call(first + c);
      for (std::uint32_t d = 0; d < call.device_count; ++d)
        add_kernel(tree_.device(call.first_device + d), kernels);
    }
  }

  const PaddleTree& tree_;
  PaddleStats& stats_;
};

// What the file says about the use of the processors: "0.065700", in quotes.
std::optional<double> utilization(const TraceMeta& meta, std::string_view key) {
  for (const auto& [name, value] : meta.properties) {
    if (name != key || value.size() < 2) continue;
    double out = 0;
    const char* const end = value.data() + value.size() - 1;
    const auto parsed = std::from_chars(value.data() + 1, end, out);
    const bool usable = parsed.ec == std::errc() && parsed.ptr == end && out >= 0 && out < 1e9;
    if (usable) return out;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t PaddleMemoryRow::increase() const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(allocated_bytes) -
                                   static_cast<std::uint64_t>(freed_bytes));
}

PaddleStats paddle_stats(const PaddleTree& tree, bool by_thread) {
  PaddleStats stats;
  stats.process_cpu = utilization(tree.trace().meta(), "Process Cpu Utilization");
  stats.system_cpu = utilization(tree.trace().meta(), "System Cpu Utilization");
  add_paddle_phases(tree, stats);
  add_paddle_ranges(tree, stats);
  StatsBuilder(tree, stats).add_threads(by_thread);
  add_paddle_memory(tree, stats);
  return stats;
}

}  // namespace sonde
