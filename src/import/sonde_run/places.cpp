#include "import/sonde_run/places.hpp"

#include <algorithm>

namespace sonde {

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
  places_.clear();
}

}  // namespace sonde
