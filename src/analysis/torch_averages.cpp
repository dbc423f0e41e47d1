#include "analysis/torch_averages.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "analysis/torch_flops.hpp"
#include "analysis/torch_stacks.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

struct GroupKey {
  std::uint32_t name = 0;
  std::uint32_t shapes = 0;
  std::uint32_t stack = 0;
  bool device = false;
  bool annotation = false;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

struct GroupKeyHash {
  std::size_t operator()(const GroupKey& key) const {
    std::uint64_t hash = std::uint64_t{key.name} << 2 | std::uint64_t{key.device} << 1 |
                         std::uint64_t{key.annotation};
    hash = mix_bits(hash) ^ (std::uint64_t{key.shapes} << 32 | key.stack);
    return mix_bits(hash);
  }
};

std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

std::int64_t add_wrapped(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void add(TorchNumbers& sum, const TorchNumbers& one) {
  sum.cpu += one.cpu;
  sum.self_cpu += one.self_cpu;
  sum.device += one.device;
  sum.self_device += one.self_device;
  sum.cpu_bytes = add_wrapped(sum.cpu_bytes, one.cpu_bytes);
  sum.self_cpu_bytes = add_wrapped(sum.self_cpu_bytes, one.self_cpu_bytes);
  sum.device_bytes = add_wrapped(sum.device_bytes, one.device_bytes);
  sum.self_device_bytes = add_wrapped(sum.self_device_bytes, one.self_device_bytes);
}

// Shapes and FLOPs of operators, each different combination of inputs looked at once.
class Inputs {
 public:
  explicit Inputs(const Trace& trace) : trace_(trace) {}

  std::uint64_t flops(const TorchEvent& event) {
    const OperatorRow* row = row_of(event);
    if (row == nullptr || row->is_annotation || !row->inputs.valid()) return 0;
    const StringId name = trace_.slices().name(event.slice);
    bool fresh = false;
    bool& has_formula = name_has_flops_.get_or_insert(name.value, false, &fresh);
    if (fresh) has_formula = has_torch_flops(trace_.text(name));
    if (!has_formula) return 0;
    const std::uint64_t key = std::uint64_t{name.value} << 32 | row->inputs.value;
    std::uint64_t& flops = flops_.get_or_insert(key, 0, &fresh);
    if (fresh) {
      const OperatorInputs& inputs = trace_.inputs(row->inputs);
      flops = torch_flops(trace_.text(name), {trace_.text(inputs.shapes), trace_.text(inputs.types),
                                              trace_.text(inputs.concrete)});
    }
    return flops;
  }

  std::uint32_t shapes(const TorchEvent& event) {
    const OperatorRow* row = row_of(event);
    const StringId shapes = row == nullptr ? StringId() : trace_.inputs(row->inputs).shapes;
    bool fresh = false;
    std::uint32_t& id = shape_ids_.get_or_insert(shapes.value, 0, &fresh);
    if (fresh) {
      const std::string text = torch_shapes_text(trace_.text(shapes));
      const auto next = static_cast<std::uint32_t>(shape_texts_.size());
      const auto [at, added] = shape_numbers_.try_emplace(text, next);
      if (added) shape_texts_.push_back(text);
      id = at->second;
    }
    return id;
  }

  const std::string& shapes_text(std::uint32_t id) const { return shape_texts_[id]; }

 private:
  const OperatorRow* row_of(const TorchEvent& event) const {
    return event.slice.valid() ? trace_.operators().find(event.slice) : nullptr;
  }

  const Trace& trace_;
  FlatMap<bool> name_has_flops_;
  FlatMap<std::uint64_t> flops_;
  FlatMap<std::uint32_t> shape_ids_;  // by StringId of the JSON text
  std::unordered_map<std::string, std::uint32_t> shape_numbers_;
  std::vector<std::string> shape_texts_;
};

// ROCm calls itself CUDA inside of PyTorch.
std::string device_name(const TraceMeta& meta) {
  if (meta.device_family.empty() || meta.device_family == "ROCm") return "CUDA";
  std::string name = meta.device_family;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name;
}

bool uses_device(const Trace& trace, const std::vector<TorchEvent>& events) {
  if (!trace.meta().device_family.empty()) return true;
  return std::any_of(events.begin(), events.end(), [&](const TorchEvent& event) {
    return event.device ||
           (event.slice.valid() && is_launch_call(trace.slices().kind(event.slice)));
  });
}

}  // namespace

TorchAverages torch_averages(const Trace& trace, const TorchGrouping& grouping) {
  TorchAverages averages;
  averages.device_name = device_name(trace.meta());
  averages.profile_memory = trace.meta().profile_memory;
  averages.with_flops = trace.meta().with_flops;

  TorchNames names(trace.strings());
  std::vector<TorchEvent> events;
  std::unique_ptr<TorchStacks> stacks;
  {
    const TorchResults results = torch_results(trace);
    events = torch_events(trace, results, names);
    nest_torch_events(events);
    fold_torch_duplicates(events);
    if (grouping.stack_frames > 0) {
      stacks = std::make_unique<TorchStacks>(trace, results, events, grouping.stack_frames);
    }
  }
  averages.device_used = uses_device(trace, events);

  const TorchTotals totals(events, averages.device_used);
  Inputs inputs(trace);
  std::unordered_map<GroupKey, std::uint32_t, GroupKeyHash> groups;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TorchEvent& event = events[i];
    if (event.python) continue;
    GroupKey key{event.key, 0, 0, event.device, event.annotation};
    if (grouping.by_input_shape) key.shapes = inputs.shapes(event);
    if (stacks) key.stack = stacks->head(i);
    const auto next = static_cast<std::uint32_t>(averages.groups.size());
    const auto [at, fresh] = groups.try_emplace(key, next);
    if (fresh) {
      TorchAverage group;
      group.name = names.text(event.key);
      if (grouping.by_input_shape) group.shapes = inputs.shapes_text(key.shapes);
      if (stacks) group.stack = stacks->frames(key.stack);
      group.device = event.device;
      group.annotation = event.annotation;
      group.async = event.async;
      group.top_level = event.parent == TorchEvent::kNone;
      averages.groups.push_back(std::move(group));
    }
    TorchAverage& group = averages.groups[at->second];
    add(group.sum, totals.numbers(i));
    ++group.calls;
    group.flops = add_saturated(group.flops, inputs.flops(event));
  }
  return averages;
}

}  // namespace sonde
