#include "analysis/trace_facts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sonde {

TraceFacts trace_facts(const Trace& trace) {
  const SliceColumns& slices = trace.slices();
  std::array<KindCount, kSliceKindCount> kinds{};
  for (const SliceId slice : all_slices(trace)) {
    KindCount& count = kinds[static_cast<std::size_t>(slices.kind(slice))];
    ++count.slices;
    count.time += slices.duration(slice);
  }
  TraceFacts out;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].kind = static_cast<SliceKind>(i);
    if (kinds[i].slices) out.kinds.push_back(kinds[i]);
  }
  out.steps = kinds[static_cast<std::size_t>(SliceKind::Step)].slices;

  std::map<std::string_view, std::uint64_t> categories;
  for (std::size_t i = 0; i < trace.categories().size(); ++i) {
    if (trace.slices().kind(trace.categories().key(i)) != SliceKind::Other) continue;
    ++categories[trace.text(trace.categories().row(i))];
  }
  for (const auto& [name, count] : categories) out.other_categories.emplace_back(name, count);
  std::stable_sort(out.other_categories.begin(), out.other_categories.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });

  std::set<std::pair<std::int64_t, std::uint32_t>> processes;
  for (const Track& track : trace.tracks()) {
    if (track.type == TrackType::Thread) {
      ++out.threads;
      // A process without a number is known by its name alone.
      processes.emplace(track.pid, track.pid == 0 ? track.process.value : 0);
    } else if (track.type == TrackType::Stream) {
      ++out.streams;
    } else {
      ++out.other_tracks;
    }
  }
  out.processes = processes.size();
  return out;
}

bool has_times(const Trace& trace) {
  if (trace.losses().find("no_times") != nullptr) return false;
  if (trace.slice_count() == 0) return true;  // of nothing, or of what is no slice
  for (const SliceId slice : all_slices(trace)) {
    // A kernel takes time; anything else may be too short for its clock.
    if (trace.slices().duration(slice) > 0 || !is_device_work(trace.slices().kind(slice)))
      return true;
  }
  return false;
}

}  // namespace sonde
