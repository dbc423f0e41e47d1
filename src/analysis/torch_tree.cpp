#include "analysis/torch_tree.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/torch_sum.hpp"

namespace sonde {
namespace {

bool nests(const TorchEvent& event) { return !event.device && !event.async; }

std::int64_t subtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// Removes the marked events and moves parents to their new places. No marked event is a parent.
void remove_marked(std::vector<TorchEvent>& events, const std::vector<bool>& marked) {
  std::vector<std::uint32_t> place(events.size());
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (marked[i]) continue;
    place[i] = kept;
    TorchEvent event = events[i];
    if (event.parent != TorchEvent::kNone) event.parent = place[event.parent];
    events[kept++] = event;
  }
  events.resize(kept);
}

}  // namespace

void nest_torch_events(std::vector<TorchEvent>& events) {
  std::size_t threads = 0;
  for (const TorchEvent& event : events) {
    if (event.thread.valid()) threads = std::max(threads, event.thread.index() + 1);
  }
  std::vector<std::vector<std::uint32_t>> open(threads + 1);
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    TorchEvent& event = events[i];
    if (!nests(event)) continue;
    std::vector<std::uint32_t>& stack = open[event.thread.valid() ? event.thread.index() : threads];
    while (!stack.empty()) {
      const TorchEvent& top = events[stack.back()];
      if (event.start < top.end && event.end <= top.end) break;
      stack.pop_back();
    }
    if (!stack.empty()) event.parent = stack.back();
    stack.push_back(i);
  }
}

void fold_torch_duplicates(std::vector<TorchEvent>& events) {
  std::vector<std::uint32_t> children(events.size(), 0);
  for (const TorchEvent& event : events) {
    if (event.parent != TorchEvent::kNone) ++children[event.parent];
  }
  std::vector<bool> folded(events.size(), false);
  // Parents come before their children, so one pass finds everything that repeated passes would.
  for (std::size_t i = 0; i < events.size(); ++i) {
    TorchEvent& event = events[i];
    if (event.parent == TorchEvent::kNone) continue;
    if (folded[event.parent]) event.parent = events[event.parent].parent;
    TorchEvent& parent = events[event.parent];
    if (parent.key != event.key || children[event.parent] != 1) continue;
    children[event.parent] = children[i];
    parent.kernels = event.kernels;
    folded[i] = true;
  }
  remove_marked(events, folded);
}

TorchTotals::TorchTotals(const std::vector<TorchEvent>& events, bool device_used)
    : events_(events), device_used_(device_used), first_child_(events.size() + 1, 0) {
  for (const TorchEvent& event : events) {
    if (event.parent != TorchEvent::kNone) ++first_child_[event.parent + 1];
  }
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  children_.resize(first_child_.back());
  std::vector<std::uint32_t> next(first_child_.begin(), first_child_.end() - 1);
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].parent != TorchEvent::kNone) children_[next[events[i].parent]++] = i;
  }
  if (!device_used) return;
  device_.resize(events.size());
  for (std::size_t i = events.size(); i-- > 0;) {
    if (events[i].device) {
      device_[i] = events[i].duration();
      continue;
    }
    PythonSum below;
    for (std::uint32_t c = first_child_[i]; c < first_child_[i + 1]; ++c) {
      below.add(device_[children_[c]]);
    }
    device_[i] = events[i].kernels + below.value();
  }
}

TorchNumbers TorchTotals::numbers(std::size_t i) const {
  const TorchEvent& event = events_[i];
  TorchNumbers numbers;
  if (event.device) {
    if (device_used_) numbers.device = numbers.self_device = event.duration();
    return numbers;
  }
  numbers.cpu = event.duration();
  numbers.cpu_bytes = event.cpu_bytes;
  numbers.device_bytes = event.device_bytes;
  if (event.async) return numbers;

  PythonSum cpu;
  PythonSum device;
  numbers.self_cpu_bytes = event.cpu_bytes;
  numbers.self_device_bytes = event.device_bytes;
  for (std::uint32_t c = first_child_[i]; c < first_child_[i + 1]; ++c) {
    const TorchEvent& child = events_[children_[c]];
    cpu.add(child.duration());
    if (device_used_) device.add(device_[children_[c]]);
    numbers.self_cpu_bytes = subtract(numbers.self_cpu_bytes, child.cpu_bytes);
    numbers.self_device_bytes = subtract(numbers.self_device_bytes, child.device_bytes);
  }
  numbers.self_cpu = numbers.cpu - cpu.value();
  if (device_used_) {
    numbers.device = device_[i];
    numbers.self_device = device_[i] - device.value();
  }
  return numbers;
}

}  // namespace sonde
