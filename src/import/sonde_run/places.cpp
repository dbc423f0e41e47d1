#include "import/sonde_run/places.hpp"

#include <algorithm>

#include "base/flat_map.hpp"

namespace sonde {

void WaitingPlaces::find_calls(const TraceBuilder& builder) {
  if (calls_.empty()) return;
  FlatMap<std::uint32_t> frames;
  for (const Call& call : calls_) frames.set(call.correlation, call.frame);
  const SideTable<LaunchRow>& launches = builder.launches();
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::int64_t correlation = launches.row(i).correlation;
    if (correlation < 0 || !is_launch_call(builder.slices().kind(launches.key(i)))) continue;
    const std::uint32_t* const frame = frames.find(static_cast<std::uint64_t>(correlation));
    if (frame != nullptr) add(launches.key(i), *frame);
  }
  calls_.clear();
}

void WaitingPlaces::finish(TraceBuilder& builder) {
  std::stable_sort(places_.begin(), places_.end(),
                   [](const Place& a, const Place& b) { return a.slice < b.slice; });
  std::uint64_t unknown = 0;
  SliceId last;
  for (const Place& place : places_) {
    if (place.slice == last) continue;
    if (place.stack.valid()) {
      builder.add_place(place.slice, place.stack);
      last = place.slice;
    } else {
      ++unknown;
    }
  }
  if (unknown > 0) {
    builder.losses().add("places_unknown", Severity::Warning,
                         "Operators and calls whose line in the program is not known: the .tables "
                         "file beside the recording is missing, or lacks it",
                         unknown);
  }
  if (!calls_.empty()) {
    builder.losses().add("call_places_unused", Severity::Info,
                         "Places in the program of CUDA calls that have no record here",
                         calls_.size());
  }
  places_.clear();
}

}  // namespace sonde
