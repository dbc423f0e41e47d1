#include "analysis/step_parts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analysis/op_tree.hpp"
#include "analysis/steps.hpp"

namespace sonde {
namespace {

// What an event does; where several go on at once, the greatest counts.
enum class Activity : std::uint8_t {
  Nothing,
  HostCompute,
  Compile,
  HostToHost,
  HostToDevice,
  HostPrepare,
  Collectives,
  WaitForInput,
  DeviceToDevice,
  DeviceToHost,
  Compute32,
  Compute16,
};
constexpr std::size_t kActivities = static_cast<std::size_t>(Activity::Compute16) + 1;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

bool starts(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && contains(text.substr(0, part.size()), part);
}

Activity copy_activity(std::string_view name) {
  if (contains(name, "h2d") || contains(name, "htod")) return Activity::HostToDevice;
  if (contains(name, "d2h") || contains(name, "dtoh")) return Activity::DeviceToHost;
  if (contains(name, "d2d") || contains(name, "dtod") || contains(name, "p2p") ||
      contains(name, "ptop")) {
    return Activity::DeviceToDevice;
  }
  if (contains(name, "h2h") || contains(name, "htoh")) return Activity::HostToHost;
  return Activity::Compute32;
}

// Around operators, not work themselves.
bool is_wrapper(std::string_view name) {
  for (const std::string_view prefix :
       {"EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun"}) {
    if (name.starts_with(prefix)) return true;
  }
  // Whatever is called like a step is taken for a mark.
  for (const std::string_view prefix : {"train", "test", "TraceContext"}) {
    if (name.starts_with(prefix)) return name.find('/') == std::string_view::npos;
  }
  return false;
}

Activity activity_of(const Trace& trace, SliceId slice) {
  const std::string_view name = trace.name(slice);
  switch (trace.slices().kind(slice)) {
    case SliceKind::Memcpy:
      return copy_activity(name);
    case SliceKind::Kernel: {
      if (is_communication_kernel(trace, slice)) return Activity::Collectives;
      const bool half = contains(name, "half") || contains(name, "fp16");
      return half ? Activity::Compute16 : Activity::Compute32;
    }
    case SliceKind::Memset:
      return Activity::Compute32;
    case SliceKind::Runtime:
    case SliceKind::Driver:
      return Activity::HostPrepare;
    case SliceKind::DataLoader:
      // The threads that prepare input ahead do not hold up the step.
      return starts(name, "iterator::") ? Activity::HostCompute : Activity::WaitForInput;
    case SliceKind::Step:
    case SliceKind::DeviceRange:
    case SliceKind::Span:
    case SliceKind::Overhead:
    case SliceKind::Sync:
    case SliceKind::PythonFunction:
    case SliceKind::Module:
      return Activity::Nothing;
    default:
      break;
  }
  if (is_wrapper(name)) return Activity::Nothing;
  if (starts(name, "iteratorgetnext")) return Activity::WaitForInput;
  return Activity::HostCompute;
}

StepPart part_of(Activity activity) {
  switch (activity) {
    case Activity::HostCompute:
      return StepPart::HostCompute;
    case Activity::Compile:
      return StepPart::Compile;
    case Activity::HostToDevice:
    case Activity::WaitForInput:
      return StepPart::Input;
    case Activity::HostPrepare:
      return StepPart::KernelLaunch;
    case Activity::Collectives:
      return StepPart::DeviceCollectives;
    case Activity::DeviceToDevice:
      return StepPart::DeviceToDevice;
    case Activity::DeviceToHost:
      return StepPart::Output;
    case Activity::Compute32:
    case Activity::Compute16:
      return StepPart::DeviceCompute;
    case Activity::Nothing:
    case Activity::HostToHost:
      break;
  }
  return StepPart::Other;
}

struct Timed {
  Interval interval;
  Activity activity = Activity::Nothing;
};

// What a thread of XLA's pool did with work that it was handed.
bool is_pool_work(const Trace& trace, SliceId slice) {
  return trace.name(slice) == "ThreadpoolListener::Region";
}

// Gives each moment of the step to the greatest activity that goes on. `handed_on` are moments at
// which a pool took work of the step; XProf does not follow the work, but where nothing else goes
// on at such a moment it counts as computing up to the next begin or end of an event.
void divide(PartedStep& step, const std::vector<Timed>& events,
            const std::vector<Nanos>& handed_on) {
  struct Border {
    Nanos time;
    std::size_t activity;
    int change;  // 0: handed on
  };
  std::vector<Border> borders;
  for (const Nanos time : handed_on) {
    if (time >= step.span.start && time < step.span.end) borders.push_back({time, 0, 0});
  }
  for (const Timed& event : events) {
    const Nanos start = std::max(event.interval.start, step.span.start);
    const Nanos end = std::min(event.interval.end, step.span.end);
    if (start >= end) continue;
    borders.push_back({start, static_cast<std::size_t>(event.activity), 1});
    borders.push_back({end, static_cast<std::size_t>(event.activity), -1});
  }
  std::sort(borders.begin(), borders.end(),
            [](const Border& a, const Border& b) { return a.time < b.time; });
  std::array<int, kActivities> open{};
  bool waits = false;  // for what was handed on
  Nanos at = step.span.start;
  const auto give = [&](Nanos until) {
    if (until <= at) return;
    std::size_t greatest = kActivities - 1;
    while (greatest > 0 && open[greatest] == 0) --greatest;
    auto activity = static_cast<Activity>(greatest);
    if (activity == Activity::Nothing && waits) activity = Activity::HostCompute;
    const Nanos length = until - at;
    step.parts[static_cast<std::size_t>(part_of(activity))] += length;
    if (activity == Activity::Compute16) step.compute_16_bit += length;
    if (activity == Activity::WaitForInput) step.wait_for_input += length;
    if (activity == Activity::HostToDevice) step.host_to_device += length;
    at = until;
  };
  for (const Border& border : borders) {
    give(border.time);
    open[border.activity] += border.change;
    waits = border.change == 0;
  }
  give(step.span.end);
}

std::string step_label(std::string_view name) {
  const std::size_t hash = name.find('#');
  return std::string(
      hash == std::string_view::npos || hash + 1 == name.size() ? name : name.substr(hash + 1));
}

template <class Value>
double mean_of(const std::vector<PartedStep>& steps, Value value) {
  if (steps.empty()) return 0;
  double sum = 0;
  for (const PartedStep& step : steps) sum += static_cast<double>(value(step));
  return sum / static_cast<double>(steps.size());
}

template <class Value>
double deviation_of(const std::vector<PartedStep>& steps, Value value) {
  if (steps.size() < 2) return 0;
  const double mean = mean_of(steps, value);
  double squares = 0;
  for (const PartedStep& step : steps) {
    const double off = static_cast<double>(value(step)) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(steps.size() - 1));
}

auto part_value(StepPart part) {
  return [part](const PartedStep& step) { return step.parts[static_cast<std::size_t>(part)]; };
}
Nanos length_of(const PartedStep& step) { return step.span.length(); }

}  // namespace

double StepParts::average(StepPart part) const { return mean_of(steps, part_value(part)); }
double StepParts::deviation(StepPart part) const { return deviation_of(steps, part_value(part)); }
double StepParts::average_total() const { return mean_of(steps, length_of); }
double StepParts::deviation_total() const { return deviation_of(steps, length_of); }

Nanos StepParts::sum(StepPart part) const {
  Nanos out = 0;
  for (const PartedStep& step : steps) out += step.parts[static_cast<std::size_t>(part)];
  return out;
}

Nanos StepParts::total() const {
  Nanos out = 0;
  for (const PartedStep& step : steps) out += step.span.length();
  return out;
}

std::vector<std::int32_t> step_of_slices(const Trace& trace, const std::vector<SliceId>& steps,
                                         std::vector<std::vector<Nanos>>* handed_on) {
  const SliceColumns& slices = trace.slices();
  std::vector<std::int32_t> owner(trace.slice_count(), -1);
  // Children of each slice, as lists through the slices.
  std::vector<SliceId> first_child(trace.slice_count());
  std::vector<SliceId> next_sibling(trace.slice_count());
  for (const SliceId slice : all_slices(trace)) {
    const SliceId parent = slices.parent(slice);
    if (!parent.valid()) continue;
    next_sibling[slice.index()] = first_child[parent.index()];
    first_child[parent.index()] = slice;
  }
  std::vector<SliceId> pending;
  const auto reach = [&](SliceId slice, std::int32_t step) {
    if (owner[slice.index()] >= 0) return;
    owner[slice.index()] = step;
    pending.push_back(slice);
  };
  const auto follows = [&](SliceId target) { return slices.kind(target) != SliceKind::Step; };
  std::vector<SliceId> inside;
  const auto spread = [&](bool arrows) {
    while (!pending.empty()) {
      const SliceId slice = pending.back();
      pending.pop_back();
      if (!arrows) inside.push_back(slice);
      const std::int32_t step = owner[slice.index()];
      for (SliceId child = first_child[slice.index()]; child.valid();
           child = next_sibling[child.index()]) {
        if (slices.kind(child) != SliceKind::Step) reach(child, step);
      }
      if (!arrows) continue;
      for (const SliceId target : trace.flows().targets(slice)) {
        if (handed_on != nullptr && is_pool_work(trace, target))
          (*handed_on)[static_cast<std::size_t>(step)].push_back(slices.start(target));
        else if (follows(target))
          reach(target, step);
      }
      for (const SliceId target : trace.launch_to_device().targets(slice)) reach(target, step);
    }
  };
  // What lies in a step belongs to it, whatever arrows lead there from others.
  for (std::size_t i = 0; i < steps.size(); ++i) {
    reach(steps[i], static_cast<std::int32_t>(i));
    spread(false);
  }
  pending = std::move(inside);
  std::reverse(pending.begin(), pending.end());
  spread(true);
  return owner;
}

StepParts step_parts(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  std::vector<SliceId> marks;
  for (const SliceId slice : all_slices(trace)) {
    if (slices.kind(slice) == SliceKind::Step) marks.push_back(slice);
  }
  StepParts out;
  if (marks.empty()) return out;
  bool any_device = false;
  for (const SliceId slice : all_slices(trace))
    any_device = any_device || is_device_work(slices.kind(slice));
  std::vector<std::vector<Nanos>> handed_on(marks.size());
  std::vector<std::int32_t> owner = step_of_slices(trace, marks, any_device ? nullptr : &handed_on);

  // Steps that a device marks itself hold what lies in their time.
  const bool device_marks = trace.track(slices.track(marks[0])).type == TrackType::Async;
  // Device work that no launch in the trace leads to belongs to the step of the work before it.
  std::vector<std::int32_t> last(trace.tracks().size(), -1);
  for (const SliceId slice : all_slices(trace)) {
    if (!is_device_work(slices.kind(slice))) continue;
    std::int32_t& of = owner[slice.index()];
    if (device_marks && of < 0) {
      const auto behind =
          std::upper_bound(marks.begin(), marks.end(), slices.start(slice),
                           [&](Nanos time, SliceId mark) { return time < slices.start(mark); });
      if (behind != marks.begin() && slices.start(slice) < slices.end(*std::prev(behind)))
        of = static_cast<std::int32_t>(behind - marks.begin() - 1);
      continue;
    }
    std::int32_t& before = last[slices.track(slice).index()];
    if (of < 0)
      of = before;
    else
      before = of;
  }

  std::vector<std::vector<Timed>> events(marks.size());
  std::vector<Interval> device(marks.size(), {0, -1});
  std::vector<bool> computes(marks.size(), false);
  for (const SliceId slice : all_slices(trace)) {
    const std::int32_t step = owner[slice.index()];
    if (step < 0) continue;
    const Activity activity = activity_of(trace, slice);
    if (activity == Activity::Nothing) continue;
    const auto at = static_cast<std::size_t>(step);
    const Interval interval{slices.start(slice), slices.end(slice)};
    events[at].push_back({interval, activity});
    computes[at] = computes[at] || activity == Activity::HostCompute;
    if (!is_device_work(slices.kind(slice))) continue;
    out.on_device = true;
    if (device[at].end < device[at].start) device[at] = interval;
    device[at].start = std::min(device[at].start, interval.start);
    device[at].end = std::max(device[at].end, interval.end);
  }
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool has_device = device[i].end >= device[i].start;
    if (out.on_device ? !has_device : !computes[i]) {
      ++out.left_out;
      continue;
    }
    PartedStep step;
    step.name = step_label(trace.name(marks[i]));
    const Interval mark{slices.start(marks[i]), slices.end(marks[i])};
    step.span = out.on_device && !device_marks ? device[i] : mark;
    divide(step, events[i], handed_on[i]);
    out.steps.push_back(std::move(step));
  }
  return out;
}

}  // namespace sonde
