#include "import/xplane/arrows.hpp"

#include <algorithm>
#include <tuple>

namespace sonde {

// One sweep over the slices of each track that has instants.
void Arrows::place_instants(const TraceBuilder& builder, Nanos origin) {
  if (instants_.empty()) return;
  const SliceColumns& slices = builder.slices();
  std::stable_sort(instants_.begin(), instants_.end(), [](const Instant& a, const Instant& b) {
    return std::tuple(a.track, a.time) < std::tuple(b.track, b.time);
  });
  std::vector<bool> wanted(builder.track_count(), false);
  for (const Instant& instant : instants_) wanted[instant.track.index()] = true;
  std::vector<SliceId> list;
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    if (wanted[slices.track(SliceId(i)).index()]) list.push_back(SliceId(i));
  }
  std::sort(list.begin(), list.end(), [&](SliceId a, SliceId b) {
    return std::tuple(slices.track(a), slices.start(a), slices.depth(a), a) <
           std::tuple(slices.track(b), slices.start(b), slices.depth(b), b);
  });
  auto next = list.begin();
  std::vector<SliceId> open;  // the slice that began last, and its parents below it
  TrackId track;
  for (const Instant& instant : instants_) {
    if (track != instant.track) {
      track = instant.track;
      open.clear();
      next = std::partition_point(next, list.end(),
                                  [&](SliceId slice) { return slices.track(slice) < track; });
    }
    const Nanos time = instant.time - origin;
    for (; next != list.end() && slices.track(*next) == track && slices.start(*next) <= time;
         ++next) {
      while (!open.empty() && open.back() != slices.parent(*next)) open.pop_back();
      open.push_back(*next);
    }
    while (!open.empty() && slices.end(open.back()) < time) open.pop_back();
    if (!open.empty()) producers_.get_or_insert(instant.key, open.back());
  }
}

void Arrows::draw(TraceBuilder& builder) {
  place_instants(builder, builder.meta().origin);
  std::uint64_t loose = 0;
  for (const Consumer& consumer : consumers_) {
    const SliceId* from = producers_.find(consumer.key);
    if (from == nullptr || *from == consumer.slice)
      ++loose;
    else if (from->valid())
      builder.add_flow_link(*from, consumer.slice);
  }
  builder.losses().add("loose_flow", Severity::Info,
                       "Arrows (consumers of work) whose producer is not in the file.", loose);
}

}  // namespace sonde
