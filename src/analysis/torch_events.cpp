#include "analysis/torch_events.hpp"

#include <algorithm>
#include <array>

#include "analysis/torch_memory.hpp"
#include "analysis/torch_sum.hpp"
#include "base/flat_map.hpp"

namespace sonde {
namespace {

constexpr std::array<std::string_view, 8> kDroppedNames = {
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
    "[memory]",
    "[OutOfMemory]",
};

constexpr std::array<std::string_view, 3> kExtraNames = {"ProfilerStep*", "[memory]",
                                                         "[OutOfMemory]"};

constexpr std::uint32_t kUnknown = UINT32_MAX - 1;

// Collectives of torch.distributed end on another thread than they began. The file does not say so,
// but their names do.
bool is_async(std::string_view name) {
  constexpr std::array<std::string_view, 6> kBackends = {
      "gloo:", "nccl:", "ucc:", "mpi:", "xccl:", "hccl:"};
  return std::any_of(kBackends.begin(), kBackends.end(),
                     [&](std::string_view backend) { return name.starts_with(backend); });
}

// Newer versions of PyTorch take Python functions for events like others, whose time is not that of
// the event around them, and leave them out of the averages only. These versions write down where a
// function was called from.
bool counts_python(const Trace& trace) {
  const StringId key = trace.strings().find("CallFrom");
  if (!key.valid()) return false;
  for (const SliceId slice : all_slices(trace)) {
    const SliceKind kind = trace.slices().kind(slice);
    if (kind == SliceKind::PythonFunction || kind == SliceKind::Module)
      return static_cast<bool>(find_argument(trace, slice, key));
  }
  return false;
}

bool before(const TorchEvent& a, const TorchEvent& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

// What is linked to one operator id.
struct Linked {
  PythonSum kernels;
  TrackId thread;  // of the last event with that id
  bool claimed = false;
};

class EventList {
 public:
  EventList(const Trace& trace, const TorchResults& results, TorchNames& names)
      : trace_(trace), results_(results), names_(names), memory_(trace.allocations()) {}

  std::vector<TorchEvent> build() {
    list();
    link();
    sort();
    add_memory_events();
    return std::move(events_);
  }

 private:
  double micros(Nanos time) const {
    return static_cast<double>(time - results_.trace_start) / 1000.0;
  }

  void list() {
    const bool with_python = counts_python(trace_);
    for (std::uint32_t i = 0; i < results_.list.size(); ++i) {
      const TorchResult& result = results_.list[i];
      if (result.role == TorchRole::Python && !with_python) continue;
      const std::uint32_t key = names_.key(trace_.slices().name(result.slice));
      if (key == TorchNames::kDropped) continue;
      TorchEvent event;
      event.start = micros(result.start);
      event.end = micros(result.end);
      event.slice = result.slice;
      event.thread = result.thread;
      event.key = key;
      event.result = i;
      event.device = result.role == TorchRole::Device;
      event.python = result.role == TorchRole::Python;
      event.annotation = result.annotation;
      event.async = !event.device && result.annotation && is_async(trace_.name(result.slice));
      if (!event.device) {
        const TorchBytes bytes = memory_.claim(result.start, result.end);
        event.cpu_bytes = bytes.cpu;
        event.device_bytes = bytes.device;
      }
      events_.push_back(event);
    }
  }

  // Hands device time to the events whose id it is linked to, and puts linked calls on the thread
  // of the last of these.
  void link() {
    FlatMap<Linked> linked;
    for (const TorchEvent& event : events_) {
      const std::int64_t id = results_.list[event.result].linked;
      if (id <= 0) continue;
      Linked& entry = linked.get_or_insert(static_cast<std::uint64_t>(id), {});
      if (event.device) entry.kernels.add(event.duration());
    }
    for (TorchEvent& event : events_) {
      const TorchResult& result = results_.list[event.result];
      if (result.linked > 0 || event.device || event.async || event.python) continue;
      Linked* entry = linked.find(static_cast<std::uint64_t>(result.id));
      if (entry == nullptr) continue;
      event.kernels = entry->kernels.value();
      entry->thread = event.thread;
      entry->claimed = true;
    }
    for (TorchEvent& event : events_) {
      const std::int64_t id = results_.list[event.result].linked;
      if (id <= 0 || event.device) continue;
      const Linked* entry = linked.find(static_cast<std::uint64_t>(id));
      if (entry != nullptr && entry->claimed) event.thread = entry->thread;
    }
  }

  // The list is in order of start already: only events that start together change places.
  void sort() {
    for (auto first = events_.begin(); first != events_.end();) {
      const auto last = std::find_if(first + 1, events_.end(), [&](const TorchEvent& event) {
        return event.start != first->start;
      });
      if (last - first > 1) std::stable_sort(first, last, before);
      first = last;
    }
  }

  // Records outside of all events are events of their own, without length.
  void add_memory_events() {
    const auto middle = static_cast<std::ptrdiff_t>(events_.size());
    for (const std::uint32_t i : memory_.unclaimed()) add_memory_event(i, names_.memory());
    for (const std::uint32_t i : memory_.out_of_memory()) {
      add_memory_event(i, names_.out_of_memory());
    }
    std::stable_sort(events_.begin() + middle, events_.end(), before);
    std::inplace_merge(events_.begin(), events_.begin() + middle, events_.end(), before);
  }

  void add_memory_event(std::uint32_t record, std::uint32_t key) {
    const Allocation& allocation = trace_.allocations()[record];
    const TorchBytes bytes = torch_bytes(allocation);
    TorchEvent event;
    event.start = micros(allocation.time);
    event.end = event.start;
    event.thread = allocation.track;
    event.key = key;
    event.cpu_bytes = bytes.cpu;
    event.device_bytes = bytes.device;
    events_.push_back(event);
  }

  const Trace& trace_;
  const TorchResults& results_;
  TorchNames& names_;
  TorchMemory memory_;
  std::vector<TorchEvent> events_;
};

}  // namespace

TorchNames::TorchNames(const StringPool& strings)
    : strings_(strings),
      first_extra_(static_cast<std::uint32_t>(strings.size())),
      keys_(strings.size(), kUnknown) {
  const StringId step = strings.find(kExtraNames[0]);
  step_ = step.valid() ? step.value : first_extra_;
}

std::uint32_t TorchNames::find_key(std::string_view name, StringId id) const {
  if (name.starts_with("ProfilerStep#")) return step_;
  const auto* dropped = std::find(kDroppedNames.begin(), kDroppedNames.end(), name);
  return dropped != kDroppedNames.end() ? kDropped : id.value;
}

std::uint32_t TorchNames::key(StringId name) {
  if (name.index() >= keys_.size()) name = StringId(std::uint32_t{0});
  std::uint32_t& key = keys_[name.index()];
  if (key == kUnknown) key = find_key(strings_.view(name), name);
  return key;
}

std::string_view TorchNames::text(std::uint32_t key) const {
  if (key < first_extra_) return strings_.view(StringId(key));
  const std::size_t extra = key - first_extra_;
  return extra < kExtraNames.size() ? kExtraNames[extra] : std::string_view();
}

std::vector<TorchEvent> torch_events(const Trace& trace, const TorchResults& results,
                                     TorchNames& names) {
  return EventList(trace, results, names).build();
}

}  // namespace sonde
