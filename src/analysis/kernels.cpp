#include "analysis/kernels.hpp"

#include <algorithm>

#include "base/flat_map.hpp"

namespace sonde {
namespace {

// A mean weighted by duration, over those kernels that have the value.
struct WeightedMean {
  double sum = 0;
  double plain_sum = 0;  // for kernels that all have no duration
  Nanos weight = 0;
  std::uint64_t count = 0;

  void add(double value, Nanos duration) {
    sum += value * static_cast<double>(duration);
    plain_sum += value;
    weight += duration;
    ++count;
  }
  std::optional<double> mean() const {
    if (count == 0) return std::nullopt;
    if (weight == 0) return plain_sum / static_cast<double>(count);
    return sum / static_cast<double>(weight);
  }
};

struct Accumulator {
  KernelOwner owner = KernelOwner::Unknown;
  StringId op;
  KernelStats stats;
  WeightedMean blocks_per_sm;
  WeightedMean occupancy;

  void add(const Trace& trace, SliceId kernel) {
    const Nanos duration = trace.slices().duration(kernel);
    stats.max = stats.calls ? std::max(stats.max, duration) : duration;
    stats.min = stats.calls ? std::min(stats.min, duration) : duration;
    stats.total += duration;
    ++stats.calls;
    const DeviceRow* row = trace.device_work().find(kernel);
    if (!row) return;
    if (row->blocks_per_sm >= 0) blocks_per_sm.add(row->blocks_per_sm, duration);
    if (row->occupancy >= 0) occupancy.add(row->occupancy, duration);
  }

  KernelStats finish() const {
    KernelStats out = stats;
    out.blocks_per_sm = blocks_per_sm.mean();
    out.occupancy = occupancy.mean();
    return out;
  }
};

// Groups in the order of their first kernel.
class KernelGroups {
 public:
  explicit KernelGroups(const Trace& trace) : trace_(trace) {}

  void add(SliceId kernel, KernelOwner owner, StringId op) {
    const StringId name = trace_.slices().name(kernel);
    const auto next = static_cast<std::uint32_t>(groups_.size());
    std::uint64_t key = (std::uint64_t{name.value} << 32) ^ op.value;
    key = mix_bits(key) + static_cast<std::uint64_t>(owner);
    for (;; key = mix_bits(key + 1)) {  // two different groups under one key: try the next one
      const std::uint32_t index = known_.get_or_insert(key, next);
      if (index == next) {
        groups_.emplace_back();
        groups_.back().owner = owner;
        groups_.back().op = op;
        groups_.back().stats.name = name;
      }
      Accumulator& group = groups_[index];
      if (group.stats.name != name || group.op != op || group.owner != owner) continue;
      group.add(trace_, kernel);
      return;
    }
  }

  const std::vector<Accumulator>& groups() const { return groups_; }

 private:
  const Trace& trace_;
  std::vector<Accumulator> groups_;
  FlatMap<std::uint32_t> known_;
};

bool is_kernel(const Trace& trace, SliceId slice) {
  return trace.slices().kind(slice) == SliceKind::Kernel;
}

}  // namespace

std::vector<KernelStats> kernel_stats(const Trace& trace) {
  KernelGroups groups(trace);
  for (const SliceId slice : all_slices(trace)) {
    if (is_kernel(trace, slice)) groups.add(slice, KernelOwner::Unknown, StringId());
  }
  std::vector<KernelStats> out;
  out.reserve(groups.groups().size());
  for (const Accumulator& group : groups.groups()) out.push_back(group.finish());
  // UTF-8 compares byte by byte as its code points do.
  std::sort(out.begin(), out.end(), [&](const KernelStats& a, const KernelStats& b) {
    return trace.text(a.name) < trace.text(b.name);
  });
  return out;
}

std::vector<KernelOperatorStats> kernel_operator_stats(const Trace& trace, const OpTree& tree) {
  KernelGroups groups(trace);
  std::vector<bool> collected(trace.slice_count());
  const auto collect = [&](SliceId slice, KernelOwner owner, StringId op) {
    if (!is_kernel(trace, slice) || collected[slice.index()]) return;
    collected[slice.index()] = true;
    groups.add(slice, owner, op);
  };

  for (const SliceId slice : tree.orphans()) collect(slice, KernelOwner::Unknown, StringId());
  for (const OpThread& thread : tree.threads()) {
    for (std::uint32_t n = thread.first_node; n < thread.end_node; ++n) {
      const OpNode& node = tree.nodes()[n];
      for (const std::uint32_t launch : tree.launches_of(node)) {
        for (const SliceId slice : tree.device_of(tree.launches()[launch])) {
          collect(slice, KernelOwner::Operator, trace.slices().name(node.slice));
        }
      }
    }
    for (const std::uint32_t launch : thread.root_launches) {
      for (const SliceId slice : tree.device_of(tree.launches()[launch])) {
        collect(slice, KernelOwner::Thread, StringId());
      }
    }
  }
  for (const SliceId slice : all_slices(trace)) collect(slice, KernelOwner::Unknown, StringId());

  std::vector<KernelOperatorStats> out;
  out.reserve(groups.groups().size());
  for (const Accumulator& group : groups.groups()) {
    out.push_back({group.finish(), group.owner, group.op});
  }
  return out;
}

}  // namespace sonde
