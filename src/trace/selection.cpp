#include "trace/selection.hpp"

#include <algorithm>

#include "base/saturated.hpp"

namespace sonde {
namespace {

bool may_own_calls(SliceKind kind) { return !is_launch_call(kind) && !is_device_work(kind); }

}  // namespace

Nanos Selection::origin() const {
  if (first_ != INT64_MAX) return first_;
  return first_marker_ != INT64_MAX ? first_marker_ : 0;
}

void Selection::choose(const TraceFilter& filter) {
  filter_ = filter;
  for (TraceFilter::Window& window : filter_.windows) {
    window.from = saturated_sum(window.from, origin());
    window.to = saturated_sum(window.to, origin());
  }
  // Whether the ids of calls are those of operators is seen from all calls and operators only.
  if (calls_with_equal_ids_ * 2 > calls_with_both_ids_) give_up();
}

void Selection::begin_neighbours() {
  phase_ = Phase::Neighbours;
  used_ = false;
}

void Selection::begin_build() {
  for (auto& [track, list] : extents_) {
    std::sort(list.begin(), list.end(),
              [](const Extent& a, const Extent& b) { return a.start < b.start; });
    // From here on `end` is the latest of all up to this one.
    for (std::size_t i = 1; i < list.size(); ++i)
      list[i].end = std::max(list[i].end, list[i - 1].end);
  }
  const auto in_extent = [&](const ArrowEnd& end) {
    const auto found = extents_.find(end.track.value);
    if (found == extents_.end()) return false;
    const std::vector<Extent>& list = found->second;
    const auto behind =
        std::upper_bound(list.begin(), list.end(), end.time,
                         [](Nanos time, const Extent& extent) { return time < extent.start; });
    return behind != list.begin() && std::prev(behind)->end >= end.time;
  };
  for (const ArrowEnd& end : outer_ends_) {
    const bool on_device = filter_.device_work_by_launch && marked(device_tracks_, end.track);
    if (end.unbound && (on_device || in_extent(end))) arrows_.insert(end.key);
  }
  // Of an arrow with an end in the piece all others decide what it means, wherever they lie.
  for (const ArrowEnd& end : outer_ends_) {
    if (arrows_.contains(end.key)) arrow_times_[end.track.value].push_back(end.time);
  }
  for (auto& [track, times] : arrow_times_) {
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
  }
  // Of a link with one end in the piece, the other end tells what the link is.
  std::vector<std::uint64_t> others;
  for (const auto& [from, to] : link_ends_) {
    if (links_.contains(from)) others.push_back(to);
    if (links_.contains(to)) others.push_back(from);
  }
  links_.insert(others.begin(), others.end());
  link_ends_ = {};
  outer_ends_ = {};
  extents_.clear();
  phase_ = Phase::Build;
  used_ = false;
}

TraceFilter Selection::filter_from(Nanos origin) const {
  TraceFilter out = filter_;
  for (TraceFilter::Window& window : out.windows) {
    window.from = saturated_sum(window.from, -origin);
    window.to = saturated_sum(window.to, -origin);
  }
  return out;
}

// The rule of filter_trace().
bool Selection::in_windows(Nanos start, Nanos end) const {
  if (filter_.windows.empty()) return true;
  return std::any_of(filter_.windows.begin(), filter_.windows.end(),
                     [&](const TraceFilter::Window& window) {
                       return start < window.to && (end > window.from || start >= window.from);
                     });
}

// Whether everything that reaches to that time lies in the piece.
bool Selection::surely_inside(Nanos time) const {
  return std::any_of(
      filter_.windows.begin(), filter_.windows.end(),
      [&](const TraceFilter::Window& window) { return window.from < time && time < window.to; });
}

bool Selection::in_one_window(Nanos start, Nanos end) const {
  return std::any_of(
      filter_.windows.begin(), filter_.windows.end(),
      [&](const TraceFilter::Window& window) { return window.from < start && end < window.to; });
}

void Selection::survey(Nanos start, Nanos duration, TrackId track, SliceKind kind,
                       const SliceIds& ids, std::string_view name) {
  first_ = std::min(first_, start);
  has_fractions_ = has_fractions_ || start % 1000 != 0 || duration % 1000 != 0;
  has_calls_ = has_calls_ || is_launch_call(kind);
  if (is_device_work(kind)) {
    has_device_work_ = true;
    mark(device_tracks_, track);
  }
  if (kind == SliceKind::Step) steps_.push_back({std::string(name), start, start + duration});
  if (!ids.is_call) return;
  constexpr std::uint64_t kEnoughCalls = 1000;
  if (++calls_ <= kEnoughCalls) has_hip_calls_ = has_hip_calls_ || name.starts_with("hip");
  if (ids.external_id == kNoNumber || ids.correlation == kNoNumber) return;
  ++calls_with_both_ids_;
  if (ids.external_id == ids.correlation) ++calls_with_equal_ids_;
}

void Selection::note_neighbours(Nanos start, Nanos end, TrackId track, SliceKind kind,
                                const SliceIds& ids) {
  if (!in_windows(start, end)) return;
  if (ids.correlation != kNoNumber && (is_launch_call(kind) || is_device_work(kind)))
    correlations_.insert(ids.correlation);
  if (ids.external_id != kNoNumber && is_launch_call(kind)) external_ids_.insert(ids.external_id);
  if (ids.sequence != kNoNumber) sequences_.insert(ids.sequence);
  if (ids.link != 0) links_.insert(ids.link);
  if (marked(arrow_tracks_, track) && !in_one_window(start, end))
    extents_[track.value].push_back({start, end});
}

bool Selection::is_at_arrow(TrackId track, Nanos start, Nanos end) const {
  if (arrow_times_.empty()) return false;
  const auto found = arrow_times_.find(track.value);
  if (found == arrow_times_.end()) return false;
  const auto time = std::lower_bound(found->second.begin(), found->second.end(), start);
  return time != found->second.end() && *time <= end;
}

// Whether a slice of a kind that is not wanted decides about links between those that are.
bool Selection::serves_links(SliceKind kind, TrackId track, const SliceIds& ids) const {
  if (marked(arrow_tracks_, track) || ids.link != 0 || ids.at_arrow) return true;
  bool calls = false;
  bool device = false;
  bool others = false;
  for (std::size_t k = 0; k < kSliceKindCount; ++k) {
    if (!filter_.kinds[k]) continue;
    const auto wanted = static_cast<SliceKind>(k);
    calls = calls || is_launch_call(wanted);
    device = device || is_device_work(wanted);
    others = others || may_own_calls(wanted);
  }
  if (is_device_work(kind)) return false;
  if (is_launch_call(kind)) return device && (calls || filter_.device_work_by_launch);
  return others && (calls || ids.sequence != kNoNumber);
}

Taken Selection::takes(Nanos start, Nanos duration, TrackId track, SliceKind kind,
                       const SliceIds& ids, std::string_view name) {
  const Nanos end = start + duration;
  if (phase_ == Phase::Survey) {
    survey(start, duration, track, kind, ids, name);
    return Taken::No;
  }
  if (phase_ == Phase::Neighbours) {
    note_neighbours(start, end, track, kind, ids);
    return Taken::No;
  }
  const bool wanted_kind = filter_.kinds.none() || filter_.kinds[static_cast<std::size_t>(kind)];
  if (in_windows(start, end)) {
    if (wanted_kind) return Taken::Whole;
    return serves_links(kind, track, ids) ? Taken::Bare : Taken::No;
  }
  const bool correlated =
      (ids.correlation != kNoNumber && correlations_.contains(ids.correlation)) || ids.at_arrow ||
      (ids.link != 0 && links_.contains(ids.link));
  if (is_device_work(kind) && filter_.device_work_by_launch && wanted_kind && correlated)
    return Taken::Whole;
  if (correlated) return Taken::Bare;
  if (!ids.is_call && !is_device_work(kind)) {
    if (ids.external_id != kNoNumber && external_ids_.contains(ids.external_id)) return Taken::Bare;
    if (ids.sequence != kNoNumber && sequences_.contains(ids.sequence)) return Taken::Bare;
  }
  return is_at_arrow(track, start, end) ? Taken::Bare : Taken::No;
}

bool Selection::takes(Point point, Nanos time) {
  if (phase_ == Phase::Survey) {
    Nanos& first = point == Point::Marker ? first_marker_ : first_;
    first = std::min(first, time);
    return false;
  }
  if (phase_ == Phase::Neighbours || !in_windows(time, time)) return false;
  switch (point) {
    case Point::Marker:
      return filter_.markers;
    case Point::Counter:
      return filter_.counters;
    case Point::Allocation:
      return filter_.allocations;
    case Point::Sample:
      break;
  }
  return filter_.samples;
}

bool Selection::takes_arrow_end(std::uint64_t key, TrackId track, Nanos time, Binding binding) {
  if (phase_ == Phase::Survey) {
    mark(arrow_tracks_, track);
    return false;
  }
  if (phase_ == Phase::Neighbours) {
    const bool unbound = binding == Binding::Unknown;
    const bool inside = surely_inside(time);
    if (binding == Binding::InPiece || (unbound && inside)) arrows_.insert(key);
    if (!inside) outer_ends_.push_back({key, track, time, unbound});
    return false;
  }
  return needs_arrow(key);
}

void Selection::note_link(std::uint64_t from, std::uint64_t to) {
  if (phase_ == Phase::Neighbours) link_ends_.emplace_back(from, to);
}

}  // namespace sonde
