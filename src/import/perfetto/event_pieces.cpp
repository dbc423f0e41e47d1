// The part of EventStore that reads a piece of a trace only.

#include <algorithm>
#include <bit>

#include "import/perfetto/event_store.hpp"
#include "import/perfetto/known_arguments.hpp"
#include "trace/selection.hpp"

namespace sonde::perfetto_import {

EventStore::OpenTrack& EventStore::follow(const Event& event, TrackId track) {
  OpenTrack& open = open_tracks_[track];
  // Where the events of a track come in another order, no end is known before the last of them.
  if (event.time < open.last) selection_->give_up();
  open.last = std::max(open.last, event.time);
  return open;
}

void EventStore::follow_begin(const Event& event) {
  const TrackId track = tracks_.track(event.track);
  OpenTrack& on = follow(event, track);
  OpenSlice slice;
  slice.number = slices_seen_++;
  if (selection_->given_up()) return;
  slice.begin = {event.time, 0, track, event.name, event.category, event.stack};
  slice.arguments = event.arguments;
  for (const Flow& flow : event.flows)
    slice.flows.push_back({flow.id, event.time, slice.number, slice.number, flow.ends});
  on.open.push_back(std::move(slice));
}

void EventStore::follow_end(const Event& event) {
  const TrackId track = tracks_.track(event.track);
  OpenTrack& on = follow(event, track);
  if (selection_->given_up()) return;
  if (on.open.empty()) {
    ++without_begin_;
    return;
  }
  OpenSlice slice = std::move(on.open.back());
  on.open.pop_back();
  slice.arguments.insert(slice.arguments.end(), event.arguments.begin(), event.arguments.end());
  // Behind all begins, by track.
  const std::uint64_t order =
      std::uint64_t{1} << 63 | std::uint64_t{track.value} << 32 | ends_seen_++;
  for (const Flow& flow : event.flows)
    slice.flows.push_back({flow.id, event.time, slice.number, order, flow.ends});
  close_slice(std::move(slice), event.time);
}

void EventStore::close_slice(OpenSlice&& slice, Nanos end) {
  Begin& begin = slice.begin;
  begin.duration = std::min(end - begin.start, kMaxDuration);
  const SliceKind kind = take_kind(begin);
  SliceRows rows;
  std::int64_t correlation = kNoNumber;
  for (const PendingArgument& argument : slice.arguments) {
    rows.take(kind, argument, builder_);
    const std::string_view key = builder_.text(argument.key);
    if (argument.type == ArgType::Integer && (key == "correlation" || key == "corr_id"))
      correlation = std::bit_cast<std::int64_t>(argument.bits);
  }
  SliceIds ids;
  if (is_host_operator(kind) || kind == SliceKind::Step) {
    ids.external_id = rows.op.external_id;
    ids.sequence = rows.op.sequence;
  } else if (is_launch_call(kind) || kind == SliceKind::Sync) {
    ids.correlation = rows.launch.correlation == kNoNumber ? correlation : rows.launch.correlation;
    ids.external_id = rows.launch.external_id;
    ids.is_call = true;
  } else if (is_device_work(kind) || kind == SliceKind::DeviceRange) {
    ids.correlation = rows.device.correlation == kNoNumber ? correlation : rows.device.correlation;
    const TrackDevice device{slice.number, rows.device.device};
    if (rows.device.device >= 0) {
      TrackDevice& first = track_devices_.try_emplace(begin.track, device).first->second;
      if (device.number < first.number) first = device;
    }
    if (is_device_work(kind)) device_tracks_.insert(begin.track);
  }
  const Selection::Phase phase = selection_->phase();
  const Nanos closed = begin.start + begin.duration;
  const bool neighbours = phase == Selection::Phase::Neighbours;
  const bool may_hold = neighbours && selection_->may_hold(begin.start, closed, kind);
  const bool in_time = neighbours && selection_->may_hold(begin.start, closed, SliceKind::Other);
  for (const FlowPoint& flow : slice.flows) {
    if (phase == Selection::Phase::Survey) {
      unknown_flows_ = unknown_flows_ || sort_of(flow.id) == Sort::Unknown;
      if (sort_of(flow.id) == Sort::Backward) selection_->note_backward_arrow();
    } else if (in_time || (may_hold && sort_of(flow.id) != Sort::Launch)) {
      // Of device work outside, its launch tells whether it is in the piece.
      selection_->need_arrow(flow.id);
    } else if (phase == Selection::Phase::Build && selection_->needs_arrow(flow.id)) {
      ids.at_arrow = true;
      flows_.push_back(flow);
    }
  }
  const Taken taken = selection_->takes(begin.start, begin.duration, begin.track, kind, ids,
                                        builder_.text(begin.name));
  if (taken == Taken::No) return;
  closed_.push_back({begin, kind, slice.number, correlation, std::move(slice.arguments)});
}

void EventStore::close_followed() {
  for (auto& [track, on] : open_tracks_) {
    without_end_ += on.open.size();
    for (OpenSlice& slice : on.open) close_slice(std::move(slice), on.last);
  }
  open_tracks_.clear();
  // Such arrows between calls and device work get numbers as correlation ids, counted over all.
  if (selection_->phase() == Selection::Phase::Survey && unknown_flows_ &&
      selection_->has_calls() && selection_->has_device_work())
    selection_->give_up();
  builder_.losses().add("end_without_begin", Severity::Warning,
                        "Ends of slices whose begin is not in the file; they are passed over.",
                        without_begin_);
  builder_.losses().add("begin_without_end", Severity::Info,
                        "Slices that nothing ends; they reach to the last event of their track.",
                        without_end_);
}

void EventStore::add_closed_slices() {
  const std::vector<TrackId> homes = tracks_.home_tracks();
  std::vector<bool> has_device_work(builder_.track_count());
  for (const TrackId track : device_tracks_) has_device_work[homes[track.index()].index()] = true;
  std::map<TrackId, TrackDevice> devices;
  for (const auto& [track, device] : track_devices_) {
    TrackDevice& first = devices.try_emplace(homes[track.index()], device).first->second;
    if (device.number < first.number) first = device;
  }
  for (Arrow& arrow : arrows_) {
    if (arrow.sort == Sort::Unknown) arrow.sort = Sort::Plain;
  }
  tracks_.finish(has_device_work);
  std::sort(closed_.begin(), closed_.end(),
            [](const ClosedSlice& a, const ClosedSlice& b) { return a.number < b.number; });
  for (ClosedSlice& closed : closed_) {
    closed.begin.track = homes[closed.begin.track.index()];
    // What an earlier slice of the track told, also where that one is left out.
    Track& track = builder_.track(closed.begin.track);
    const auto device = devices.find(closed.begin.track);
    if (device != devices.end() && device->second.number <= closed.number && track.device < 0 &&
        !tracks_.is_stated(closed.begin.track))
      track.device = device->second.device;
    closed_ids_.emplace_back(closed.number, SliceId(builder_.slice_count()));
    add_slice(closed.begin, closed.kind, closed.arguments, closed.correlation);
  }
  for (const auto& [track, device] : devices) {
    Track& known = builder_.track(track);
    if (known.device < 0 && !tracks_.is_stated(track)) known.device = device.device;
  }
  closed_ = {};
}

}  // namespace sonde::perfetto_import
