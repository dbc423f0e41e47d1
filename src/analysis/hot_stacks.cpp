#include "analysis/hot_stacks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/function_profile_parts.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

class StackSums {
 public:
  void add_samples(const Trace& trace) {
    std::vector<std::size_t> columns;
    for (const SampleType& type : trace.sample_types()) {
      columns.push_back(column(
          {std::string(trace.text(type.name)), std::string(trace.text(type.unit)), type.timed}));
    }
    if (columns.empty()) columns.push_back(column({"samples", "", true}));
    FlatMap<std::uint32_t> known;  // functions by the trace's own numbers
    std::vector<std::uint32_t> frame_of;
    frame_of.reserve(trace.stacks().size());
    for (const StackFrame& frame : trace.stacks()) {
      const std::uint32_t caller =
          frame.caller.valid() ? frame_of[frame.caller.index()] : UINT32_MAX;
      const std::uint64_t key = std::uint64_t{frame.function.value} << 32 | frame.file.value;
      const std::uint32_t* function = known.find(key);
      frame_of.push_back(frame_id(
          caller, function != nullptr
                      ? *function
                      : known.get_or_insert(
                            key, function_id(trace.text(frame.function), trace.text(frame.file)))));
    }
    for (const Sample& sample : trace.samples()) {
      if (!sample.stack.valid() || sample.type >= columns.size()) continue;
      add(frame_of[sample.stack.index()], columns[sample.type], sample.weight);
    }
  }

  void add_slices(const Trace& trace) {
    const SliceColumns& slices = trace.slices();
    std::vector<SliceId> order;
    for (const SliceId slice : all_slices(trace)) {
      const TrackType type = trace.track(slices.track(slice)).type;
      const SliceKind kind = slices.kind(slice);
      const bool host = type == TrackType::Thread || type == TrackType::Async;
      if (host && kind != SliceKind::Span && !is_device_work(kind)) order.push_back(slice);
    }
    if (order.empty()) return;
    // Parents before their children.
    std::sort(order.begin(), order.end(), [&](SliceId a, SliceId b) {
      return std::tuple(slices.depth(a), a) < std::tuple(slices.depth(b), b);
    });
    const std::size_t time = column(slice_cost(trace));
    FlatMap<std::uint32_t> known;
    std::vector<std::uint32_t> frame_of(slices.size(), UINT32_MAX);
    std::vector<double> self(slices.size());
    for (const SliceId slice : order) {
      const SliceId parent = slices.parent(slice);
      const std::uint32_t caller = parent.valid() ? frame_of[parent.index()] : UINT32_MAX;
      const std::uint32_t name = slices.name(slice).value;
      const std::uint32_t* function = known.find(name);
      frame_of[slice.index()] =
          frame_id(caller, function != nullptr
                               ? *function
                               : known.get_or_insert(name, function_id(trace.name(slice), {})));
      const auto duration = static_cast<double>(slices.duration(slice));
      self[slice.index()] += duration;
      if (parent.valid()) self[parent.index()] -= duration;
    }
    for (const SliceId slice : order) {
      add(frame_of[slice.index()], time, std::max(self[slice.index()], 0.0));
    }
  }

  HotStacks finish() {
    out_.whole.assign(out_.costs.size(), 0);
    for (const HotStacks::Row& row : out_.rows) out_.whole[row.cost] += row.weight;
    std::stable_sort(out_.rows.begin(), out_.rows.end(),
                     [](const HotStacks::Row& a, const HotStacks::Row& b) {
                       if (a.cost != b.cost) return a.cost < b.cost;
                       return a.weight > b.weight;
                     });
    return std::move(out_);
  }

 private:
  std::size_t column(const ProfileCost& cost) {
    for (std::size_t i = 0; i < out_.costs.size(); ++i) {
      if (out_.costs[i].name == cost.name && out_.costs[i].unit == cost.unit) return i;
    }
    out_.costs.push_back(cost);
    return out_.costs.size() - 1;
  }

  std::uint32_t function_id(std::string_view name, std::string_view file) {
    const auto [at, inserted] = functions_.try_emplace(
        std::pair(name, file), static_cast<std::uint32_t>(functions_.size()));
    if (inserted) names_.push_back({name, file});
    return at->second;
  }

  std::uint32_t frame_id(std::uint32_t caller, std::uint32_t function) {
    bool inserted = false;
    const std::uint32_t id =
        frames_.get_or_insert(std::uint64_t{caller} << 32 | function,
                              static_cast<std::uint32_t>(out_.frames.size()), &inserted);
    if (inserted) out_.frames.push_back({caller, names_[function].first, names_[function].second});
    return id;
  }

  void add(std::uint32_t frame, std::size_t cost, double weight) {
    bool inserted = false;
    const std::uint32_t at = rows_.get_or_insert(
        std::uint64_t{cost} << 32 | frame, static_cast<std::uint32_t>(out_.rows.size()), &inserted);
    if (inserted) out_.rows.push_back({frame, cost, 0, 0});
    out_.rows[at].weight += weight;
    ++out_.rows[at].count;
  }

  HotStacks out_;
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> functions_;
  std::vector<std::pair<std::string_view, std::string_view>> names_;
  FlatMap<std::uint32_t> frames_;
  FlatMap<std::uint32_t> rows_;
};

}  // namespace

std::vector<std::uint32_t> HotStacks::path(std::uint32_t frame, std::size_t deepest,
                                           bool& cut) const {
  std::vector<std::uint32_t> out;
  for (; frame != UINT32_MAX && out.size() < deepest; frame = frames[frame].caller) {
    out.push_back(frame);
  }
  cut = frame != UINT32_MAX;
  std::reverse(out.begin(), out.end());
  return out;
}

HotStacks hot_stacks(std::span<const NamedTrace> traces) {
  StackSums sums;
  bool samples = false;
  for (const NamedTrace& named : traces) {
    if (named.trace.samples().empty()) continue;
    sums.add_samples(named.trace);
    samples = true;
  }
  if (!samples) {
    for (const NamedTrace& named : traces) sums.add_slices(named.trace);
  }
  return sums.finish();
}

}  // namespace sonde
