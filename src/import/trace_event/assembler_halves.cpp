// The part of EventAssembler that makes slices of begin and end events.

#include <algorithm>
#include <tuple>

#include "import/trace_event/assembler.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

// How far an end event looks for the begin of its name: enough for any real mix-up, and a bound for
// a hostile file.
constexpr std::size_t kMatchDepth = 64;

}  // namespace

std::span<const EventAssembler::PendingArgument> EventAssembler::arguments_of(
    const HalfSlice& half) const {
  return std::span(pending_arguments_).subspan(half.first_argument, half.argument_count);
}

// Of a key that both halves have, the end's value is the slice's.
void EventAssembler::add_half_arguments(SliceId slice, std::span<const PendingArgument> begin,
                                        std::span<const PendingArgument> later) {
  std::uint64_t replaced = 0;
  for (const PendingArgument& argument : begin) {
    const auto same = std::find_if(later.begin(), later.end(), [&](const PendingArgument& other) {
      return other.key == argument.key;
    });
    if (same == later.end())
      add_argument(slice, argument);
    else if (!same->says_the_same_as(argument))
      ++replaced;
  }
  for (const PendingArgument& argument : later) add_argument(slice, argument);
  builder_.losses().add(
      "argument_replaced", Severity::Info,
      "Arguments that begin and end of a slice give different values; the end's stay.", replaced);
}

void EventAssembler::append_half(ReaderNames& names, const Batch& batch, const Record& record,
                                 Cursor& at) {
  if (selection_ != nullptr && !pair_) return follow_half(names, batch, record, at);
  HalfSlice half;
  half.track = track(names, record.track);
  half.time = record.time;
  half.name = string(names, record.name);
  half.category = record.rows & kCategoryRow ? string(names, record.category) : StringId();
  half.kind = record.kind;
  half.begins = record.type == RecordType::Begin;
  PendingRows rows;
  if (record.rows & kOperatorRow) rows.op = operator_row(names, batch, at);
  if (record.rows & kLaunchRow) rows.launch = batch.launches[at.launch++];
  if (record.rows & kDeviceRow) rows.device = batch.device_work[at.device++];
  if (record.rows & kPythonRow) rows.python = batch.python[at.python++];
  if (record.rows & kCollectiveRow) rows.collective = collective_row(names, batch, at);
  if ((record.rows & ~(kCategoryRow | kArgumentRow)) != 0 && half.begins) {
    half.rows = static_cast<std::uint32_t>(pending_rows_.size());
    pending_rows_.push_back(rows);
  }
  if (record.rows & kArgumentRow) {
    half.first_argument = static_cast<std::uint32_t>(pending_arguments_.size());
    half.argument_count = batch.argument_counts[at.argument_count++];
    for (std::uint32_t i = 0; i < half.argument_count; ++i)
      pending_arguments_.push_back(next_argument(names, batch, at));
  }
  halves_.push_back(half);
}

// Pairs begin and end events of each track in the order of time. An end closes the innermost open
// slice of its name, or the innermost of all where none has it.
void EventAssembler::close_halves() {
  if (halves_.empty()) return;
  std::stable_sort(halves_.begin(), halves_.end(), [](const HalfSlice& a, const HalfSlice& b) {
    return a.track != b.track ? a.track < b.track : a.time < b.time;
  });
  const StringId no_name(std::uint32_t{0});
  std::vector<std::size_t> open;
  constexpr std::size_t kOpen = SIZE_MAX;
  std::vector<Nanos> ends(halves_.size(), -1);
  std::vector<std::size_t> closed_by(halves_.size(), kOpen);
  std::uint64_t without_begin = 0;
  std::uint64_t without_end = 0;
  std::uint64_t mismatched = 0;
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    const HalfSlice& half = halves_[i];
    if (half.begins) {
      open.push_back(i);
    } else if (open.empty()) {
      ++without_begin;
    } else {
      const auto limit =
          open.rbegin() + static_cast<std::ptrdiff_t>(std::min(open.size(), kMatchDepth));
      auto match = std::find_if(open.rbegin(), limit, [&](std::size_t begin) {
        return half.name == no_name || halves_[begin].name == half.name;
      });
      if (match == limit) {
        ++mismatched;
        match = open.rbegin();
      }
      ends[*match] = half.time;
      closed_by[*match] = i;
      open.erase(std::next(match).base());
    }
    if (i + 1 == halves_.size() || halves_[i + 1].track != half.track) {
      for (const std::size_t begin : open) {
        ends[begin] = half.time;
        ++without_end;
      }
      open.clear();
    }
  }
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    const HalfSlice& half = halves_[i];
    if (!half.begins) continue;
    const SliceId slice =
        builder_.add_slice(half.time, ends[i] - half.time, half.track, half.name, half.kind);
    if (half.rows != UINT32_MAX) {
      const PendingRows& rows = pending_rows_[half.rows];
      if (rows.op) builder_.add_operator(slice, *rows.op);
      if (rows.launch) builder_.add_launch(slice, *rows.launch);
      if (rows.device) builder_.add_device_work(slice, *rows.device);
      if (rows.python) builder_.add_python(slice, *rows.python);
      if (rows.collective) builder_.add_collective(slice, *rows.collective);
      place_track(half.kind, half.track, rows.device ? rows.device->device : -1);
    }
    if (half.category.valid()) builder_.add_category(slice, half.category);
    add_half_arguments(slice, arguments_of(half),
                       closed_by[i] == kOpen ? std::span<const PendingArgument>()
                                             : arguments_of(halves_[closed_by[i]]));
  }
  note_half_losses(without_begin, without_end, mismatched);
  halves_.clear();
  pending_arguments_.clear();
}

void EventAssembler::note_half_losses(std::uint64_t without_begin, std::uint64_t without_end,
                                      std::uint64_t mismatched) {
  builder_.losses().add(
      "end_without_begin", Severity::Warning,
      "End events without a begin before them on their track; they were passed over.",
      without_begin);
  builder_.losses().add(
      "begin_without_end", Severity::Warning,
      "Begin events that nothing ends; the slices are kept up to the end of their track.",
      without_end);
  builder_.losses().add("end_name_mismatch", Severity::Info,
                        "End events whose name no open slice has; they closed the innermost one.",
                        mismatched);
}

// As append_half() and close_halves() together, for halves that come in the order of time on each
// track: others cannot be paired before the last one is known.
void EventAssembler::follow_half(ReaderNames& names, const Batch& batch, const Record& record,
                                 Cursor& at) {
  const TrackId on = track(names, record.track);
  OpenTrack& track = open_tracks_[on];
  if (record.time < track.last) selection_->give_up();
  track.last = std::max(track.last, record.time);
  if (selection_->given_up()) return skip_rows(batch, record, at);

  // Before the last reading only places and ids matter.
  const bool builds = selection_->phase() == Selection::Phase::Build;
  OpenHalf next;
  next.half.track = on;
  next.half.time = record.time;
  next.half.name = string(names, record.name);
  next.half.kind = record.kind;
  next.half.begins = record.type == RecordType::Begin;
  next.order = halves_seen_++;
  next.ids = ids_of(batch, record, at);
  if ((record.rows & ~(kCategoryRow | kArgumentRow)) != 0)
    next.rows = std::make_unique<PendingRows>();
  if (!builds) {
    if (record.rows & kDeviceRow) next.rows->device = batch.device_work[at.device];
    skip_rows(batch, record, at);
  } else {
    if (record.rows & kCategoryRow) next.half.category = string(names, record.category);
    if (record.rows & kOperatorRow) next.rows->op = operator_row(names, batch, at);
    if (record.rows & kLaunchRow) next.rows->launch = batch.launches[at.launch++];
    if (record.rows & kDeviceRow) next.rows->device = batch.device_work[at.device++];
    if (record.rows & kPythonRow) next.rows->python = batch.python[at.python++];
    if (record.rows & kCollectiveRow) next.rows->collective = collective_row(names, batch, at);
    if (record.rows & kArgumentRow) {
      const std::uint32_t count = batch.argument_counts[at.argument_count++];
      for (std::uint32_t i = 0; i < count; ++i)
        next.arguments.push_back(next_argument(names, batch, at));
    }
  }
  if (next.half.begins) {
    track.open.push_back(std::move(next));
    return;
  }
  if (track.open.empty()) {
    ++without_begin_;
    return;
  }
  const StringId no_name(std::uint32_t{0});
  const auto limit =
      track.open.rbegin() + static_cast<std::ptrdiff_t>(std::min(track.open.size(), kMatchDepth));
  auto match = std::find_if(track.open.rbegin(), limit, [&](const OpenHalf& begin) {
    return next.half.name == no_name || begin.half.name == next.half.name;
  });
  if (match == limit) {
    ++mismatched_;
    match = track.open.rbegin();
  }
  close_half(std::move(*match), record.time, std::move(next.arguments));
  track.open.erase(std::next(match).base());
}

void EventAssembler::close_half(OpenHalf&& half, Nanos end,
                                std::vector<PendingArgument> arguments) {
  half.end = end;
  half.taken = selection_->takes(half.half.time, end - half.half.time, half.half.track,
                                 half.half.kind, half.ids, builder_.text(half.half.name));
  if (half.rows)
    place_track(half.half.kind, half.half.track,
                half.rows->device ? half.rows->device->device : -1);
  if (half.taken == Taken::No) return;
  half.half.first_argument = static_cast<std::uint32_t>(half.arguments.size());
  half.arguments.insert(half.arguments.end(), arguments.begin(), arguments.end());
  closed_.push_back(std::move(half));
}

void EventAssembler::close_followed_halves() {
  for (auto& [on, track] : open_tracks_) {
    without_end_ += track.open.size();
    for (OpenHalf& half : track.open) close_half(std::move(half), track.last, {});
    track.open.clear();
  }
  std::sort(closed_.begin(), closed_.end(), [](const OpenHalf& a, const OpenHalf& b) {
    return std::tuple(a.half.track, a.half.time, a.order) <
           std::tuple(b.half.track, b.half.time, b.order);
  });
  for (const OpenHalf& closed : closed_) {
    const HalfSlice& half = closed.half;
    const SliceId slice =
        builder_.add_slice(half.time, closed.end - half.time, half.track, half.name, half.kind);
    if (closed.rows) {
      const PendingRows& rows = *closed.rows;
      if (rows.op) builder_.add_operator(slice, *rows.op);
      if (rows.launch) builder_.add_launch(slice, *rows.launch);
      if (rows.device) builder_.add_device_work(slice, *rows.device);
      if (rows.python) builder_.add_python(slice, *rows.python);
      if (rows.collective) builder_.add_collective(slice, *rows.collective);
    }
    if (closed.taken == Taken::Bare) continue;
    if (half.category.valid()) builder_.add_category(slice, half.category);
    const std::span<const PendingArgument> arguments(closed.arguments);
    add_half_arguments(slice, arguments.first(half.first_argument),
                       arguments.subspan(half.first_argument));
  }
  note_half_losses(without_begin_, without_end_, mismatched_);
  closed_.clear();
  open_tracks_.clear();
}

}  // namespace sonde
