#include "import/trace_event/assembler.hpp"

#include <algorithm>
#include <compare>
#include <string>
#include <tuple>

#include "import/text/utf8.hpp"

namespace sonde {
namespace {

// How far an end event looks for the begin of its name: enough for any real mix-up, and a bound for
// a hostile file.
constexpr std::size_t kMatchDepth = 64;

bool is_backward_flow(std::string_view category) {
  return category == "fwdbwd" || category == "forward_backward";
}

}  // namespace

struct EventAssembler::Cursor {
  std::size_t op = 0;
  std::size_t launch = 0;
  std::size_t device = 0;
  std::size_t python = 0;
  std::size_t collective = 0;
  std::size_t allocation = 0;
  std::size_t counter = 0;
  std::size_t flow = 0;
  std::size_t argument_count = 0;
  std::size_t argument = 0;
};

void EventAssembler::append(const Batch& batch) {
  if (readers_.size() <= batch.reader) readers_.resize(batch.reader + 1);
  ReaderNames& names = readers_[batch.reader];
  if (names.epoch != batch.strings_epoch) {
    names = {};
    names.epoch = batch.strings_epoch;
  }
  names.texts.insert(names.texts.end(), batch.new_strings.begin(), batch.new_strings.end());
  names.strings.resize(names.texts.size());
  names.track_keys.insert(names.track_keys.end(), batch.new_tracks.begin(), batch.new_tracks.end());
  names.tracks.resize(names.track_keys.size());
  // Categories tell the writer's age and hardware, also where no slice keeps them.
  for (const LocalId category : batch.new_categories) string(names, category);
  events_ += batch.events;

  Cursor at;
  for (const Record& record : batch.records) {
    switch (record.type) {
      case RecordType::Slice:
        append_slice(names, batch, record, at);
        break;
      case RecordType::Begin:
      case RecordType::End:
        append_half(names, batch, record, at);
        break;
      case RecordType::Marker: {
        Marker marker{record.time, track(names, record.track), string(names, record.name),
                      record.scope};
        if (record.category != 0) marker.category = string(names, record.category);
        const MarkerId added = builder_.add_marker(marker);
        if (record.rows & kArgumentRow) append_arguments(names, batch, at, added);
        break;
      }
      case RecordType::Allocation: {
        Allocation allocation = batch.allocations[at.allocation++];
        allocation.time = record.time;
        allocation.track = track(names, record.track);
        builder_.add_allocation(allocation);
        break;
      }
      case RecordType::Counter:
        builder_.add_counter({record.time, track(names, record.track), string(names, record.name),
                              string(names, record.category), batch.counter_values[at.counter++]});
        break;
      case RecordType::FlowStart:
      case RecordType::FlowStep:
      case RecordType::FlowEnd: {
        const FlowId& id = batch.flow_ids[at.flow++];
        FlowPoint point;
        point.category = string(names, record.category);
        if (id.text != kNoLocal) point.id_text = string(names, id.text);
        point.id = id.number;
        point.track = track(names, record.track);
        point.time = record.time;
        point.type = record.type;
        const SliceId last = last_slice_[point.track.index()];
        if (last.valid() && builder_.slices().start(last) == record.time) point.bound = last;
        if (is_backward_flow(builder_.text(point.category))) ++backward_flows_;
        flows_.push_back(point);
        break;
      }
      case RecordType::Sample:
        samples_.push_back({record.time, track(names, record.track), string(names, record.name),
                            string(names, record.category), 1});
        break;
      case RecordType::ThreadName:
        builder_.track(track(names, record.track)).name = string(names, record.category);
        break;
      case RecordType::ThreadSortIndex:
        builder_.track(track(names, record.track)).sort_index = record.duration;
        break;
      case RecordType::ProcessName:
      case RecordType::ProcessLabels:
      case RecordType::ProcessSortIndex: {
        const TrackKey& key = names.track_keys[record.track];
        const StringId pid_text =
            key.pid_text == kNoLocal ? StringId() : string(names, key.pid_text);
        ProcessInfo& info = *find_process(key.pid, pid_text, true);
        if (record.type == RecordType::ProcessName)
          info.name = string(names, record.category);
        else if (record.type == RecordType::ProcessLabels)
          info.labels = string(names, record.category);
        else
          info.sort_index = record.duration;
        break;
      }
    }
  }
  builder_.losses().merge(batch.losses);
}

StringId EventAssembler::string(ReaderNames& names, LocalId local) {
  StringId& id = names.strings[local];
  if (!id.valid()) {
    const std::string_view text = names.texts[local];
    if (is_utf8(text)) {
      id = builder_.intern(text);
    } else {
      id = builder_.intern(mend_utf8(text));
      // Several readers may bring the same text: it counts once.
      const std::size_t before = invalid_texts_.size();
      invalid_texts_.intern(text);
      builder_.losses().add("invalid_utf8", Severity::Warning,
                            "Texts with bytes that are no UTF-8; those bytes are shown as U+FFFD.",
                            invalid_texts_.size() - before, LossLedger::kNoOffset, text);
    }
  }
  return id;
}

StringId EventAssembler::optional_string(ReaderNames& names, StringId local) {
  return local.valid() ? string(names, local.value) : StringId();
}

TrackId EventAssembler::track(ReaderNames& names, LocalId local) {
  TrackId& id = names.tracks[local];
  if (!id.valid()) id = global_track(names, names.track_keys[local]);
  return id;
}

TrackId EventAssembler::global_track(ReaderNames& names, const TrackKey& local_key) {
  TrackKey key = local_key;
  if (key.pid_text != kNoLocal) key.pid_text = string(names, key.pid_text).value;
  if (key.tid_text != kNoLocal) key.tid_text = string(names, key.tid_text).value;
  if (key.lane != kNoLocal) key.lane = string(names, key.lane).value;

  std::uint64_t hash = hash_of(key);
  for (;; hash = mix_bits(hash + 1)) {
    const auto next = static_cast<std::uint32_t>(track_keys_.size());
    const std::uint32_t id = track_ids_.get_or_insert(hash, next);
    if (id != next) {
      if (track_keys_[id] == key) return TrackId(id);
      continue;
    }
    Track track;
    track.pid = key.pid;
    track.tid = key.tid;
    if (key.pid_text != kNoLocal) track.process = StringId(key.pid_text);
    if (key.tid_text != kNoLocal) track.name = StringId(key.tid_text);
    if (key.lane != kNoLocal) {
      track.type = TrackType::Async;
      track.name = StringId(key.lane);
    }
    track_keys_.push_back(key);
    last_slice_.emplace_back();
    return builder_.add_track(track);
  }
}

EventAssembler::ProcessInfo* EventAssembler::find_process(std::int64_t pid, StringId pid_text,
                                                          bool add) {
  std::uint64_t hash = mix_bits(mix_bits(static_cast<std::uint64_t>(pid)) ^ pid_text.value);
  for (;; hash = mix_bits(hash + 1)) {
    const std::uint32_t* known = process_ids_.find(hash);
    if (known == nullptr) break;
    ProcessInfo& info = processes_[*known];
    if (info.pid == pid && info.pid_text == pid_text) return &info;
  }
  if (!add) return nullptr;
  process_ids_.set(hash, static_cast<std::uint32_t>(processes_.size()));
  processes_.push_back({pid, pid_text, {}, {}, kNoNumber});
  return &processes_.back();
}

OperatorRow EventAssembler::operator_row(ReaderNames& names, const Batch& batch, Cursor& at) {
  const InputTexts& texts = batch.inputs[at.op];
  OperatorRow row = batch.operators[at.op++];
  row.stack = optional_string(names, row.stack);
  row.module = optional_string(names, row.module);
  if (texts.shapes != kNoLocal || texts.types != kNoLocal || texts.concrete != kNoLocal) {
    const auto text = [&](LocalId local) {
      return local == kNoLocal ? StringId() : string(names, local);
    };
    row.inputs = builder_.intern_inputs(
        {text(texts.shapes), text(texts.types), text(texts.strides), text(texts.concrete)});
  }
  return row;
}

CollectiveRow EventAssembler::collective_row(ReaderNames& names, const Batch& batch, Cursor& at) {
  CollectiveRow row = batch.collectives[at.collective++];
  row.collective = optional_string(names, row.collective);
  row.dtype = optional_string(names, row.dtype);
  row.group = optional_string(names, row.group);
  row.group_description = optional_string(names, row.group_description);
  row.group_ranks = optional_string(names, row.group_ranks);
  return row;
}

EventAssembler::PendingArgument EventAssembler::next_argument(ReaderNames& names,
                                                              const Batch& batch, Cursor& at) {
  const LocalArgument& local = batch.arguments[at.argument++];
  const bool has_text = local.type == ArgType::Text || local.type == ArgType::Json;
  return {string(names, local.key), local, has_text ? string(names, local.text) : StringId()};
}

template <class Owner>
void EventAssembler::add_argument(Owner owner, const PendingArgument& argument) {
  switch (argument.value.type) {
    case ArgType::Integer:
      builder_.add_argument(Argument<Owner>(owner, argument.key, argument.value.integer));
      break;
    case ArgType::Real:
      builder_.add_argument(Argument<Owner>(owner, argument.key, argument.value.real));
      break;
    case ArgType::Text:
    case ArgType::Json:
      builder_.add_argument(
          Argument<Owner>(owner, argument.key, argument.text, argument.value.type));
  }
}

template <class Owner>
void EventAssembler::append_arguments(ReaderNames& names, const Batch& batch, Cursor& at,
                                      Owner owner) {
  const std::uint32_t count = batch.argument_counts[at.argument_count++];
  for (std::uint32_t i = 0; i < count; ++i) add_argument(owner, next_argument(names, batch, at));
}

std::span<const EventAssembler::PendingArgument> EventAssembler::arguments_of(
    const HalfSlice& half) const {
  return std::span(pending_arguments_).subspan(half.first_argument, half.argument_count);
}

// Of a key that both halves have, the end's value is the slice's.
void EventAssembler::add_half_arguments(SliceId slice, const HalfSlice& begin,
                                        const HalfSlice* end) {
  const auto later = end == nullptr ? std::span<const PendingArgument>() : arguments_of(*end);
  std::uint64_t replaced = 0;
  for (const PendingArgument& argument : arguments_of(begin)) {
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

// A track that carries device work is a stream, whatever else lies on it.
void EventAssembler::place_track(SliceKind kind, TrackId track, std::int32_t device) {
  if (is_device_work(kind)) {
    Track& stream = builder_.track(track);
    if (stream.type == TrackType::Stream) return;
    stream.type = TrackType::Stream;
    const bool small_pid = stream.pid >= 0 && stream.pid <= INT32_MAX;
    stream.device = device >= 0 ? device : small_pid ? static_cast<std::int32_t>(stream.pid) : -1;
  } else if (kind == SliceKind::Span) {
    builder_.track(track).type = TrackType::Span;
  }
}

void EventAssembler::append_slice(ReaderNames& names, const Batch& batch, const Record& record,
                                  Cursor& at) {
  const TrackId on = track(names, record.track);
  const SliceId slice =
      builder_.add_slice(record.time, record.duration, on, string(names, record.name), record.kind);
  std::int32_t device = -1;
  if (record.rows & kOperatorRow) builder_.add_operator(slice, operator_row(names, batch, at));
  if (record.rows & kLaunchRow) builder_.add_launch(slice, batch.launches[at.launch++]);
  if (record.rows & kDeviceRow) {
    device = batch.device_work[at.device].device;
    builder_.add_device_work(slice, batch.device_work[at.device++]);
  }
  if (record.rows & kPythonRow) builder_.add_python(slice, batch.python[at.python++]);
  if (record.rows & kCollectiveRow)
    builder_.add_collective(slice, collective_row(names, batch, at));
  if (record.rows & kCategoryRow) builder_.add_category(slice, string(names, record.category));
  if (record.rows & kArgumentRow) append_arguments(names, batch, at, slice);
  place_track(record.kind, on, device);
  last_slice_[on.index()] = slice;
}

void EventAssembler::append_half(ReaderNames& names, const Batch& batch, const Record& record,
                                 Cursor& at) {
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
    add_half_arguments(slice, half, closed_by[i] == kOpen ? nullptr : &halves_[closed_by[i]]);
  }
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
  halves_.clear();
  pending_arguments_.clear();
}

void EventAssembler::name_tracks() {
  for (std::size_t t = 0; t < track_keys_.size(); ++t) {
    Track& track = builder_.track(TrackId(t));
    const TrackKey& key = track_keys_[t];
    const StringId pid_text = key.pid_text == kNoLocal ? StringId() : StringId(key.pid_text);
    const ProcessInfo* info = find_process(key.pid, pid_text, false);
    if (info == nullptr) continue;
    if (info->name.valid()) track.process = info->name;
    track.labels = info->labels;
    if (track.sort_index == kNoNumber) track.sort_index = info->sort_index;
  }
}

void EventAssembler::finish(unsigned threads, const Metadata& metadata) {
  if (pair_)
    pair_(halves_, builder_);
  else
    close_halves();
  add_samples(builder_, samples_, metadata);
  name_tracks();
  builder_.nest(threads);
  draw_flows();
}

// Arrows whose own place in the file did not tell their slice bind to the innermost slice that
// encloses their time: of the slice that began last before it and its parents, the first that has
// not ended. One sweep over each track, so that deep nesting costs nothing.
void EventAssembler::bind_flows() {
  const SliceColumns& slices = builder_.slices();
  std::vector<std::vector<std::uint32_t>> points(builder_.track_count());
  bool any = false;
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].bound.valid()) continue;
    points[flows_[i].track.index()].push_back(i);
    any = true;
  }
  if (!any) return;
  std::vector<std::vector<SliceId>> by_start(builder_.track_count());
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const TrackId on = slices.track(SliceId(i));
    if (!points[on.index()].empty()) by_start[on.index()].push_back(SliceId(i));
  }
  const Nanos origin = builder_.meta().origin;
  for (std::size_t t = 0; t < points.size(); ++t) {
    std::vector<SliceId>& list = by_start[t];
    std::sort(list.begin(), list.end(), [&](SliceId a, SliceId b) {
      return std::tuple(slices.start(a), slices.depth(a), a) <
             std::tuple(slices.start(b), slices.depth(b), b);
    });
    std::stable_sort(points[t].begin(), points[t].end(), [&](std::uint32_t a, std::uint32_t b) {
      return flows_[a].time < flows_[b].time;
    });
    std::vector<SliceId> open;  // the slice that began last, and its parents below it
    auto next = list.begin();
    for (const std::uint32_t i : points[t]) {
      const Nanos time = flows_[i].time - origin;
      for (; next != list.end() && slices.start(*next) <= time; ++next) {
        while (!open.empty() && open.back() != slices.parent(*next)) open.pop_back();
        open.push_back(*next);
      }
      while (!open.empty() && slices.end(open.back()) < time) open.pop_back();
      if (!open.empty()) flows_[i].bound = open.back();
    }
  }
}

void EventAssembler::draw_flows() {
  bind_flows();
  // What is compared lies side by side: going through the points for each comparison would cost
  // twice the time.
  struct Key {
    StringId category;
    StringId id_text;
    std::int64_t id;
    Nanos time;
    RecordType type;
    std::uint32_t point;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> order(flows_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const FlowPoint& p = flows_[i];
    order[i] = {p.category, p.id_text, p.id, p.time, p.type, i};
  }
  std::sort(order.begin(), order.end());
  std::uint64_t loose = 0;
  const FlowPoint* from = nullptr;
  for (const Key& key : order) {
    const FlowPoint& point = flows_[key.point];
    const bool same = from != nullptr && from->category == point.category && from->id == point.id &&
                      from->id_text == point.id_text;
    if (point.type == RecordType::FlowStart) {
      from = &point;
      continue;
    }
    if (!same || !from->bound.valid() || !point.bound.valid()) {
      ++loose;
      continue;
    }
    if (is_backward_flow(builder_.text(point.category)))
      builder_.add_backward_link(from->bound, point.bound);
    else
      builder_.add_flow_link(from->bound, point.bound);
    from = &point;
  }
  builder_.losses().add("loose_flow", Severity::Info,
                        "Arrows (flow events) that lack a start or a slice to bind to.", loose);
  flows_.clear();
}

}  // namespace sonde
