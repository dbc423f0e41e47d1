#include "analysis/paddle_ranges.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "analysis/intervals.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

bool contains(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

// Operators that move data between processes, by Paddle's rule. aten::broadcast_tensors and the
// like of PyTorch do not, whatever their name says.
bool is_communication_operator(std::string_view name) {
  if (name.starts_with("aten::")) return false;
  const std::string lower = lower_case(name);
  return contains(lower, "allreduce") || contains(lower, "broadcast") || contains(lower, "rpc");
}

bool is_communication_kernel_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return contains(lower, "nccl") || contains(lower, "xccl");
}

// Ranges under a name, in the order of first appearance.
template <class Key>
class RangesByKey {
 public:
  struct Entry {
    Key key;
    std::vector<Interval> ranges;
    std::uint64_t calls = 0;
  };

  void add(const Key& key, Interval range) {
    const auto [at, fresh] = index_.try_emplace(key, entries_.size());
    if (fresh) entries_.push_back({key, {}, 0});
    entries_[at->second].ranges.push_back(range);
    ++entries_[at->second].calls;
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::map<Key, std::size_t> index_;
};

class RangeBuilder {
 public:
  RangeBuilder(const PaddleTree& tree, PaddleStats& stats)
      : tree_(tree),
        slices_(tree.trace().slices()),
        stats_(stats),
        in_communication_(tree.nodes().size(), false) {}

  void run() {
    for (const PaddleThread& thread : tree_.threads()) {
      for (const std::uint32_t i : tree_.stack_order(thread)) add_node(i);
    }
    for (const SliceId orphan : tree_.orphans()) {
      add_device(orphan);
      if (slices_.kind(orphan) == SliceKind::Kernel) add_kernel_range(orphan);
    }
    find_total();
    find_devices();
    find_overview();
    find_distribution();
  }

 private:
  Interval range_of(SliceId slice) const { return {slices_.start(slice), slices_.end(slice)}; }

  template <class Visit>
  void each_device(const PaddleNode& node, Visit visit) {
    for (std::uint32_t c = 0; c < node.call_count; ++c) {
      const PaddleCall& call = tree_.call(node.first_call + c);
      for (std::uint32_t d = 0; d < call.device_count; ++d)
        visit(tree_.device(call.first_device + d));
    }
  }

  void add_node(std::uint32_t index) {
    const PaddleNode& node = tree_.nodes()[index];
    host_.add(node.label, {node.start, node.end});
    for (std::uint32_t c = 0; c < node.call_count; ++c) {
      host_.add(paddle_type_name(PaddleType::CudaRuntime),
                range_of(tree_.call(node.first_call + c).slice));
    }
    each_device(node, [&](SliceId device) { add_device(device); });

    const bool communicates = node.type == PaddleType::Communication ||
                              (node.type == PaddleType::Operator &&
                               is_communication_operator(tree_.trace().text(node.name)));
    if (!communicates) {
      each_device(node, [&](SliceId device) {
        if (slices_.kind(device) == SliceKind::Kernel) add_kernel_range(device);
      });
      return;
    }
    host_communication_.push_back({node.start, node.end});
    if (in_communication_[index]) return;  // its kernels are among those of the node around it
    for (const std::uint32_t below : tree_.stack_order(index)) {
      in_communication_[below] = true;
      each_device(tree_.nodes()[below], [&](SliceId device) {
        if (slices_.kind(device) == SliceKind::Kernel)
          device_communication_.push_back(range_of(device));
      });
    }
  }

  void add_kernel_range(SliceId kernel) {
    const bool moves = is_communication_kernel_name(tree_.trace().name(kernel));
    (moves ? device_communication_ : computation_).push_back(range_of(kernel));
  }

  void add_device(SliceId device) {
    const SliceKind kind = slices_.kind(device);
    const PaddleType type = kind == SliceKind::Kernel   ? PaddleType::Kernel
                            : kind == SliceKind::Memcpy ? PaddleType::Memcpy
                                                        : PaddleType::Memset;
    const DeviceRow* row = tree_.trace().device_work().find(device);
    const std::int32_t known = row != nullptr && row->device >= 0
                                   ? row->device
                                   : tree_.trace().track(slices_.track(device)).device;
    device_.add({std::max(known, 0), type}, range_of(device));
  }

  void find_total() {
    Interval all{std::numeric_limits<Nanos>::max(), std::numeric_limits<Nanos>::min()};
    std::vector<Interval> steps;
    for (const PaddleNode& node : tree_.nodes()) {
      all = {std::min(all.start, node.start), std::max(all.end, node.end)};
      if (node.type == PaddleType::ProfileStep) steps.push_back({node.start, node.end});
    }
    stats_.total = total_length(merge_intervals(std::move(steps)));
    if (stats_.phases.cpu[0].calls > 0 || tree_.is_paddle() || tree_.nodes().empty()) return;
    // Other profilers need no steps: without them, the whole recording is one.
    stats_.total = all.length();
    stats_.phases.cpu[0].add(all.length());
    Nanos gpu = 0;
    for (const PaddleNode& node : tree_.nodes()) {
      if (node.parent != kNone) continue;
      gpu += node.gpu;
      stats_.phases.step_general_gpu += node.general_gpu;
    }
    stats_.phases.gpu[0].add(gpu);
    host_.add(paddle_type_name(PaddleType::ProfileStep), all);
  }

  void find_devices() {
    for (const auto& entry : device_.entries()) {
      if (std::none_of(stats_.devices.begin(), stats_.devices.end(),
                       [&](const PaddleDeviceUse& use) { return use.device == entry.key.first; })) {
        stats_.devices.push_back({entry.key.first, 0});
      }
      if (entry.key.second != PaddleType::Kernel) continue;
      for (PaddleDeviceUse& use : stats_.devices) {
        if (use.device == entry.key.first)
          use.kernel_time = total_length(merge_intervals(entry.ranges));
      }
    }
  }

  void find_overview() {
    const std::string_view communication = paddle_type_name(PaddleType::Communication);
    for (const auto& entry : host_.entries()) {
      if (entry.key == communication) continue;
      PaddleOverviewRow row;
      row.label = entry.key;
      row.calls = entry.calls;
      row.time = total_length(merge_intervals(entry.ranges));
      // Phases count without those inside of another.
      for (std::size_t phase = 1; phase < std::size(stats_.phases.cpu); ++phase) {
        constexpr std::array<PaddleType, 5> kPhases = {
            PaddleType::ProfileStep, PaddleType::Dataloader, PaddleType::Forward,
            PaddleType::Backward, PaddleType::Optimization};
        if (entry.key != paddle_type_name(kPhases[phase]) || stats_.phases.cpu[phase].calls == 0)
          continue;
        row.calls = stats_.phases.cpu[phase].calls;
        row.time = stats_.phases.cpu[phase].total;
      }
      stats_.host.push_back(std::move(row));
    }
    if (!host_communication_.empty()) add_communication(host_communication_, stats_.host);
    std::stable_sort(
        stats_.host.begin(), stats_.host.end(),
        [](const PaddleOverviewRow& a, const PaddleOverviewRow& b) { return a.time > b.time; });

    RangesByKey<PaddleType> by_type;
    for (const auto& entry : device_.entries()) {
      for (const Interval& range : entry.ranges) by_type.add(entry.key.second, range);
    }
    for (const auto& entry : by_type.entries()) {
      stats_.device.push_back({std::string(paddle_type_name(entry.key)), entry.calls,
                               total_length(merge_intervals(entry.ranges))});
    }
    if (!device_communication_.empty()) add_communication(device_communication_, stats_.device);
  }

  // Events at the same time count once.
  static void add_communication(const std::vector<Interval>& ranges,
                                std::vector<PaddleOverviewRow>& rows) {
    std::set<std::pair<Nanos, Nanos>> distinct;
    for (const Interval& range : ranges) distinct.insert({range.start, range.end});
    rows.push_back({std::string(paddle_type_name(PaddleType::Communication)), distinct.size(),
                    total_length(merge_intervals(ranges))});
  }

  void find_distribution() {
    PaddleDistribution& out = stats_.distribution;
    out.any = !host_communication_.empty() || !device_communication_.empty();
    std::vector<Interval> both = host_communication_;
    both.insert(both.end(), device_communication_.begin(), device_communication_.end());
    const Intervals communication = merge_intervals(std::move(both));
    const Intervals computation = merge_intervals(computation_);
    out.communication = total_length(communication);
    out.computation = total_length(computation);
    out.overlap = total_length(intersect(communication, computation));
  }

  const PaddleTree& tree_;
  const SliceColumns& slices_;
  PaddleStats& stats_;
  RangesByKey<std::string_view> host_;
  RangesByKey<std::pair<std::int32_t, PaddleType>> device_;
  std::vector<Interval> host_communication_;
  std::vector<Interval> device_communication_;
  std::vector<Interval> computation_;
  std::vector<bool> in_communication_;
};

}  // namespace

void add_paddle_ranges(const PaddleTree& tree, PaddleStats& stats) {
  RangeBuilder(tree, stats).run();
}

}  // namespace sonde
