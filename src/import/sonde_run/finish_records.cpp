// The part of RecordAssembler that needs the whole file.

#include <string.h>

#include <algorithm>
#include <tuple>

#include "base/saturated.hpp"
#include "import/sonde_run/record_assembler.hpp"
#include "import/text/utf8.hpp"

namespace sonde {

void RecordAssembler::finish() {
  add_async_pairs();
  add_counters();
  add_allocations();
}

// Begin and end may come from different threads, and so from anywhere in the file.
void RecordAssembler::add_async_pairs() {
  std::stable_sort(halves_.begin(), halves_.end(), [](const AsyncHalf& a, const AsyncHalf& b) {
    return std::tuple(a.time, !a.begin) < std::tuple(b.time, !b.begin);
  });
  std::map<std::tuple<StringId, StringId, std::uint64_t>, std::vector<Nanos>> open;
  for (const AsyncHalf& half : halves_) {
    std::vector<Nanos>& starts = open[{half.domain, half.name, half.id}];
    if (half.begin) {
      starts.push_back(half.time);
    } else if (starts.empty()) {
      builder_.losses().add("async_ends", Severity::Warning,
                            "Ends of asynchronous ranges whose begin is not here");
    } else {
      append_slice(starts.back(), half.time, tracks_.domain(TrackType::Async, half.domain),
                   half.name, half.domain, SliceKind::UserRange);
      starts.pop_back();
    }
  }
  for (const auto& [key, starts] : open) {
    const auto& [domain, name, id] = key;
    for (const Nanos start : starts) {
      append_slice(start, std::max(start, latest_), tracks_.domain(TrackType::Async, domain), name,
                   domain, SliceKind::UserRange);
      builder_.losses().add("async_open", Severity::Info,
                            "Asynchronous ranges that were not ended; they reach to the end");
    }
  }
}

void RecordAssembler::add_counters() {
  std::stable_sort(
      counters_.begin(), counters_.end(),
      [](const WaitingCounter& a, const WaitingCounter& b) { return a.value.time < b.value.time; });
  for (const WaitingCounter& waiting : counters_) {
    const CounterId counter = builder_.add_counter(waiting.value);
    for (std::size_t i = 0; i < waiting.arguments; ++i) {
      add_argument(counter, counter_arguments_[waiting.first_argument + i]);
    }
  }
}

void RecordAssembler::add_allocations() {
  std::stable_sort(
      allocation_steps_.begin(), allocation_steps_.end(),
      [](const AllocationStep& a, const AllocationStep& b) { return a.time < b.time; });
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> totals;
  for (const AllocationStep& step : allocation_steps_) {
    std::int64_t& total = totals[{step.device_type, step.device}];
    total = saturated_sum(total, step.bytes);
    // What was allocated before the recording began can be freed in it.
    total = std::max<std::int64_t>(total, 0);
    if (step.kept == kNotKept) continue;
    allocations_[step.kept].total_allocated = total;
    builder_.add_allocation(allocations_[step.kept]);
  }
  if (!allocation_steps_.empty()) builder_.meta().profile_memory = true;
}

void RecordAssembler::name_tracks() {
  StringId process = process_name_.name;
  if (!process.valid()) {
    const std::string_view program(header_.program,
                                   ::strnlen(header_.program, sizeof header_.program));
    process = builder_.intern(mend_utf8(program));
  }
  for (std::size_t i = 0; i < builder_.track_count(); ++i) {
    builder_.track(TrackId(i)).process = process;
  }
  for (const auto& [id, latest] : thread_names_) {
    builder_.track(tracks_.thread(id)).name = latest.name;
  }
  for (const auto& [key, track] : tracks_.streams()) {
    builder_.track(track).name = builder_.intern("stream " + std::to_string(key.second));
  }
}

void RecordAssembler::add_links() {
  const SliceColumns& slices = builder_.slices();
  const auto find = [](const FlatMap<SliceId>& first, const FlatMap<SliceId>& second,
                       std::uint64_t id) {
    if (const SliceId* found = first.find(id)) return *found;
    const SliceId* found = second.find(id);
    return found ? *found : SliceId();
  };
  std::vector<bool> has_operator(slices.size());
  for (const LinkEnds& link : links_) {
    const SliceId cause = find(host_ids_, device_ids_, link.cause);
    const SliceId effect = find(device_ids_, host_ids_, link.effect);
    if (!cause.valid() || !effect.valid() || cause == effect) {
      builder_.losses().add("open_links", Severity::Info,
                            "Links of which one end is not in the recording");
      continue;
    }
    if (!is_device_work(slices.kind(effect))) {
      builder_.add_flow_link(cause, effect);
      continue;
    }
    builder_.add_launch_link(cause, effect);
    if (!is_launch_call(slices.kind(cause)) || has_operator[cause.index()]) continue;
    has_operator[cause.index()] = true;
    SliceId above = slices.parent(cause);
    while (above.valid() && !is_host_operator(slices.kind(above))) above = slices.parent(above);
    if (above.valid()) builder_.add_operator_link(above, cause);
  }
}

}  // namespace sonde
