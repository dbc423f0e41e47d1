// Which host event the calls and the memory events belong to.

#include <algorithm>
#include <tuple>

#include "analysis/paddle_tree.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleNode::kNone;

}  // namespace

// Gives each call to the host event that the trace names, or to the innermost around it.
void PaddleTree::add_calls() {
  const SliceColumns& slices = trace_.slices();
  struct Owned {
    std::uint32_t owner;  // a node, or behind all of them a thread
    SliceId call;
  };
  std::vector<Owned> owned;
  const auto first_thread = static_cast<std::uint32_t>(nodes_.size());
  for (const SliceId slice : all_slices(trace_)) {
    const std::uint32_t thread = thread_of_track_[slices.track(slice).index()];
    if (is_device_work(slices.kind(slice)) && !trace_.launch_to_device().source(slice).valid()) {
      orphans_.push_back(slice);
    }
    if (!is_launch_call(slices.kind(slice)) || thread == kNone) continue;
    const SliceId named = trace_.operator_to_launch().source(slice);
    std::uint32_t owner = named.valid() ? node_of_slice_[named.index()] : kNone;
    if (owner == kNone || nodes_[owner].thread != thread) owner = node_of_slice_[slice.index()];
    owned.push_back({owner == kNone ? first_thread + thread : owner, slice});
  }
  std::sort(owned.begin(), owned.end(), [&](const Owned& a, const Owned& b) {
    return std::tuple(a.owner, slices.start(a.call), a.call) <
           std::tuple(b.owner, slices.start(b.call), b.call);
  });
  for (const Owned& entry : owned) {
    const auto at = static_cast<std::uint32_t>(calls_.size());
    std::uint32_t* first = nullptr;
    std::uint32_t* count = nullptr;
    if (entry.owner < first_thread) {
      first = &nodes_[entry.owner].first_call;
      count = &nodes_[entry.owner].call_count;
    } else {
      first = &threads_[entry.owner - first_thread].first_call;
      count = &threads_[entry.owner - first_thread].call_count;
    }
    if (*count == 0) *first = at;
    ++*count;
    PaddleCall call;
    call.slice = entry.call;
    call.first_device = static_cast<std::uint32_t>(devices_.size());
    for (const SliceId device : trace_.launch_to_device().targets(entry.call)) {
      if (is_device_work(slices.kind(device))) devices_.push_back(device);
    }
    call.device_count = static_cast<std::uint32_t>(devices_.size()) - call.first_device;
    calls_.push_back(call);
  }
}

// Gives each memory event to the innermost host event around its time.
void PaddleTree::add_memory() {
  struct Timed {
    std::uint32_t thread;
    Nanos time;
    PaddleMemoryEvent event;
    std::uint32_t node = kNone;
  };
  std::vector<Timed> events;
  const auto thread_of = [&](TrackId track) { return thread_of_track_[track.index()]; };
  for (const Allocation& allocation : trace_.allocations()) {
    if (allocation.out_of_memory || thread_of(allocation.track) == kNone) continue;
    PaddleMemoryEvent event;
    if (is_paddle_) event.place = allocation.pool;
    event.device_type = allocation.device_type;
    event.device = allocation.device;
    event.bytes = allocation.bytes;
    event.frees = allocation.bytes < 0;
    if (!is_paddle_) {
      event.peak_allocated = std::max<std::int64_t>(0, allocation.total_allocated);
      event.peak_reserved = std::max<std::int64_t>(0, allocation.total_reserved);
    }
    events.push_back({thread_of(allocation.track), allocation.time, event});
  }
  for (std::uint32_t i = 0; is_paddle_ && i < trace_.markers().size(); ++i) {
    const Marker& marker = trace_.markers()[i];
    if (!marker.category.valid() || thread_of(marker.track) == kNone) continue;
    const std::string_view category = trace_.text(marker.category);
    if (category != "ReservedAllocate" && category != "ReservedFree") continue;
    PaddleMemoryEvent event;
    event.reserved = true;
    event.frees = category == "ReservedFree";
    for (const MarkerArg& argument : trace_.marker_arguments().of(MarkerId(i))) {
      const std::string_view key = trace_.text(argument.key());
      if (key == "place" && argument.type() == ArgType::Text) event.place = argument.text();
      if (key == "increase_bytes" && argument.type() == ArgType::Integer)
        event.bytes = argument.integer();
    }
    events.push_back({thread_of(marker.track), marker.time, event});
  }
  std::stable_sort(events.begin(), events.end(), [](const Timed& a, const Timed& b) {
    return std::tuple(a.thread, a.time) < std::tuple(b.thread, b.time);
  });
  // Both ends of an event belong to it; of two that touch at that very time the earlier one counts.
  std::size_t next = 0;
  std::vector<std::uint32_t> open;
  for (Timed& timed : events) {
    const auto key = [&](std::uint32_t i) { return std::tuple(nodes_[i].thread, nodes_[i].start); };
    const auto close = [&] {
      while (!open.empty() &&
             (nodes_[open.back()].thread != timed.thread || nodes_[open.back()].end < timed.time)) {
        open.pop_back();
      }
    };
    const std::tuple now(timed.thread, timed.time);
    while (next < order_.size() && key(order_[next]) < now) open.push_back(order_[next++]);
    close();
    if (open.empty() || nodes_[open.back()].end > timed.time) {
      while (next < order_.size() && key(order_[next]) == now) open.push_back(order_[next++]);
      close();
    }
    if (!open.empty()) timed.node = open.back();
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Timed& a, const Timed& b) { return a.node < b.node; });
  for (const Timed& timed : events) {
    if (timed.node == kNone) continue;
    PaddleNode& node = nodes_[timed.node];
    if (node.memory_count++ == 0) node.first_memory = static_cast<std::uint32_t>(memory_.size());
    memory_.push_back(timed.event);
  }
}

}  // namespace sonde
