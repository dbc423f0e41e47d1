#include "analysis/steps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/flat_map.hpp"
#include "trace/external_ids.hpp"

namespace sonde {
namespace {

// Device work of collectives in traces whose kernels do not say so themselves: it has the external
// id of the collective's operator.
class CollectiveIds {
 public:
  explicit CollectiveIds(const Trace& trace) {
    if (external_ids_are_correlations(trace)) return;
    const StringId broadcast = trace.strings().find("nccl:broadcast");
    const StringId all_reduce = trace.strings().find("nccl:all_reduce");
    if (!broadcast.valid() && !all_reduce.valid()) return;
    for (std::size_t i = 0; i < trace.operators().size(); ++i) {
      const SliceId slice = trace.operators().key(i);
      const StringId name = trace.slices().name(slice);
      const std::int64_t id = trace.operators().row(i).external_id;
      if ((name == broadcast || name == all_reduce) && id != kNoNumber) {
        ids_.set(static_cast<std::uint64_t>(id), true);
      }
    }
  }

  bool contains(const Trace& trace, SliceId kernel) const {
    if (ids_.size() == 0) return false;
    const DeviceRow* row = trace.device_work().find(kernel);
    return row && row->external_id != kNoNumber &&
           ids_.find(static_cast<std::uint64_t>(row->external_id));
  }

 private:
  FlatMap<bool> ids_;
};

Interval interval_of(const Trace& trace, SliceId slice) {
  return {trace.slices().start(slice), trace.slices().end(slice)};
}

ByRole<Intervals> role_ranges(const Trace& trace, HostCollectives host_collectives) {
  ByRole<Intervals> ranges;
  const CollectiveIds collectives(trace);
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = trace.slices().kind(slice);
    StepRole role = StepRole::Other;
    if (kind == SliceKind::Kernel) {
      role = collectives.contains(trace, slice) || is_communication_kernel(trace, slice)
                 ? StepRole::Communication
                 : StepRole::Kernel;
    } else if (kind == SliceKind::Memcpy) {
      role = StepRole::Memcpy;
    } else if (kind == SliceKind::Memset) {
      role = StepRole::Memset;
    } else if (is_launch_call(kind)) {
      role = StepRole::Runtime;
    } else if (kind == SliceKind::Communication &&
               host_collectives == HostCollectives::AreCommunication) {
      role = StepRole::Communication;
    } else if (is_host_operator(kind)) {
      role = is_data_loading(kind, trace.name(slice)) ? StepRole::DataLoader : StepRole::CpuOp;
    }
    if (role != StepRole::Other) ranges[role].push_back(interval_of(trace, slice));
  }
  for (const StepRole role : kStepRoles) ranges[role] = merge_intervals(std::move(ranges[role]));
  return ranges;
}

// "ProfilerStep#12" -> "12".
std::string step_name(std::string_view name) {
  const std::size_t hash = name.find('#');
  std::string_view number = hash == std::string_view::npos ? name : name.substr(hash + 1);
  if (number.empty()) return std::string(name);
  const bool is_number = number.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number) {
    const std::size_t first = number.find_first_not_of('0');
    number = first == std::string_view::npos ? "0" : number.substr(first);
  }
  return std::string(number);
}

std::vector<Step> recorded_steps(const Trace& trace) {
  std::vector<Step> steps;
  for (const SliceId slice : all_slices(trace)) {
    if (trace.slices().kind(slice) != SliceKind::Step) continue;
    Step step;
    step.name = step_name(trace.name(slice));
    step.recorded = interval_of(trace, slice);
    steps.push_back(std::move(step));
  }
  return steps;
}

// Without steps the recording of the host is one step; without a host, the whole recording.
std::vector<Step> one_step(const Trace& trace) {
  constexpr Interval kNothing{std::numeric_limits<Nanos>::max(), std::numeric_limits<Nanos>::min()};
  Interval host = kNothing;
  Interval all = kNothing;
  const auto stretch = [](Interval& span, const Interval& by) {
    span.start = std::min(span.start, by.start);
    span.end = std::max(span.end, by.end);
  };
  for (const SliceId slice : all_slices(trace)) {
    const Interval interval = interval_of(trace, slice);
    if (is_host_operator(trace.slices().kind(slice))) stretch(host, interval);
    stretch(all, interval);
  }
  if (all == kNothing) return {};
  Step step;
  step.name = "0";
  step.recorded = host == kNothing ? all : host;
  return {std::move(step)};
}

// Moves each step so that it holds the device work that was launched in it.
class DeviceAdjustment {
 public:
  DeviceAdjustment(const Trace& trace, const OpTree& tree, StepBreakdown& out)
      : trace_(trace), tree_(tree), out_(out), device_(out.steps.size()) {}

  void run() {
    match();
    if (matched_ == 0) return;
    move();
    drop_tail();
  }

 private:
  struct DeviceSpan {
    Nanos start = std::numeric_limits<Nanos>::max();
    Nanos end = std::numeric_limits<Nanos>::min();
    bool any() const { return end >= start; }
  };

  void match() {
    const std::vector<LaunchNode>& launches = tree_.launches();
    const auto start = [&](std::uint32_t l) { return trace_.slices().start(launches[l].slice); };
    std::vector<std::uint32_t> order(launches.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto by_start = [&](std::uint32_t a, std::uint32_t b) { return start(a) < start(b); };
    if (!std::is_sorted(order.begin(), order.end(), by_start)) {
      std::stable_sort(order.begin(), order.end(), by_start);
    }

    in_step_.assign(trace_.slice_count(), false);
    std::size_t s = 0;
    for (std::size_t i = 0; i < order.size() && s < out_.steps.size();) {
      const LaunchNode& launch = launches[order[i]];
      const Interval call = interval_of(trace_, launch.slice);
      Step& step = out_.steps[s];
      if (call.start < step.recorded.start) {
        ++i;
      } else if (call.end <= step.recorded.end) {
        for (const SliceId work : tree_.device_of(launch)) {
          in_step_[work.index()] = true;
          ++step.device_work;
          ++matched_;
          device_[s].start = std::min(device_[s].start, trace_.slices().start(work));
          device_[s].end = std::max(device_[s].end, trace_.slices().end(work));
        }
        ++i;
      } else if (call.start < step.recorded.end) {
        ++i;
      } else {
        ++s;
      }
    }
  }

  void move() {
    Nanos previous = out_.steps.front().recorded.start;
    if (device_.front().any()) {
      // Work of the time before the first step does not belong to it.
      for (const SliceId slice : all_slices(trace_)) {
        if (!is_device_work(trace_.slices().kind(slice)) || in_step_[slice.index()]) continue;
        const Nanos end = trace_.slices().end(slice);
        if (end < device_.front().start) previous = std::max(previous, end);
      }
    }
    for (std::size_t s = 0; s < out_.steps.size(); ++s) {
      Interval& span = out_.steps[s].span;
      span.start = std::max(previous, span.start);
      if (device_[s].any()) span.end = std::max(span.end, device_[s].end);
      span.end = std::max(span.end, span.start);
      previous = span.end;
    }
  }

  // The device work of the last steps may have come after the end of the recording.
  void drop_tail() {
    if (out_.steps.size() < 2) return;
    std::size_t last = out_.steps.size() - 1;
    while (out_.steps[last].device_work == 0) --last;
    std::size_t keep = last + 1;
    if (last > 0 && static_cast<double>(out_.steps[last - 1].device_work) * 0.8 >
                        static_cast<double>(out_.steps[last].device_work)) {
      keep = last;
    }
    out_.dropped = out_.steps.size() - keep;
    out_.steps.resize(keep);
  }

  const Trace& trace_;
  const OpTree& tree_;
  StepBreakdown& out_;
  std::vector<DeviceSpan> device_;
  std::vector<bool> in_step_;
  std::size_t matched_ = 0;
};

// Gives each moment of the steps to the first role that it belongs to.
ByRole<Intervals> exclusive_ranges(const StepBreakdown& breakdown) {
  ByRole<Intervals> out;
  Intervals free;
  for (const StepRole role : kStepRoles) {
    if (role == StepRole::Other) break;
    if (free.empty()) {
      // Also when all time has been given away: the numbers of the TensorBoard plugin restart
      // here, and are followed.
      out[role] = breakdown.ranges[role];
      std::vector<Interval> spans;
      for (const Step& step : breakdown.steps) spans.push_back(step.span);
      free = merge_intervals(std::move(spans));
    } else {
      out[role] = intersect(free, breakdown.ranges[role]);
    }
    free = subtract(free, out[role]);
  }
  out[StepRole::Other] = std::move(free);
  return out;
}

}  // namespace

Interval StepBreakdown::window() const {
  return steps.empty() ? Interval{} : Interval{steps.front().span.start, steps.back().span.end};
}

bool is_communication_kernel(const Trace& trace, SliceId kernel) {
  if (trace.collectives().find(kernel)) return true;
  constexpr std::string_view kPrefix = "nccl";
  const std::string_view name = trace.name(kernel);
  return name.size() >= kPrefix.size() &&
         std::equal(kPrefix.begin(), kPrefix.end(), name.begin(),
                    [](char want, char has) { return want == has || want - 'a' + 'A' == has; });
}

StepBreakdown break_down_steps(const Trace& trace, const OpTree& tree,
                               HostCollectives collectives) {
  StepBreakdown out;
  out.steps = recorded_steps(trace);
  out.has_steps = !out.steps.empty();
  if (!out.has_steps) out.steps = one_step(trace);
  for (Step& step : out.steps) step.span = step.recorded;
  out.has_device = !tree.launches().empty() || !tree.orphans().empty();
  if (out.steps.empty()) return out;

  DeviceAdjustment(trace, tree, out).run();
  out.ranges = role_ranges(trace, collectives);
  const ByRole<Intervals> exclusive = exclusive_ranges(out);
  const Intervals both =
      intersect(out.ranges[StepRole::Kernel], out.ranges[StepRole::Communication]);
  for (Step& step : out.steps) {
    for (const StepRole role : kStepRoles) {
      step.cost[role] = length_within(exclusive[role], step.span);
      out.sum[role] += step.cost[role];
    }
    out.total += step.total();
    step.computation = length_within(out.ranges[StepRole::Kernel], step.span);
    step.communication = length_within(out.ranges[StepRole::Communication], step.span);
    step.overlap = length_within(both, step.span);
  }
  const auto count = static_cast<double>(out.steps.size());
  for (const StepRole role : kStepRoles) {
    out.average[role] = static_cast<double>(out.sum[role]) / count;
  }
  out.average_total = static_cast<double>(out.total) / count;
  return out;
}

}  // namespace sonde
