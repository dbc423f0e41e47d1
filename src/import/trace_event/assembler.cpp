#include "import/trace_event/assembler.hpp"

#include "import/text/utf8.hpp"
#include "trace/selection.hpp"

namespace sonde {
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
        const TrackId on = track(names, record.track);
        if (!builder_.takes(Point::Marker, record.time)) {
          skip_rows(batch, record, at);
          break;
        }
        Marker marker{record.time, on, string(names, record.name), record.scope};
        if (record.category != 0) marker.category = string(names, record.category);
        const MarkerId added = builder_.add_marker(marker);
        if (record.rows & kArgumentRow) append_arguments(names, batch, at, added);
        break;
      }
      case RecordType::Allocation: {
        Allocation allocation = batch.allocations[at.allocation++];
        allocation.time = record.time;
        allocation.track = track(names, record.track);
        if (builder_.takes(Point::Allocation, record.time)) builder_.add_allocation(allocation);
        break;
      }
      case RecordType::Counter: {
        const double value = batch.counter_values[at.counter++];
        const TrackId on = track(names, record.track);
        if (builder_.takes(Point::Counter, record.time))
          builder_.add_counter(
              {record.time, on, string(names, record.name), string(names, record.category), value});
        break;
      }
      case RecordType::FlowStart:
      case RecordType::FlowStep:
      case RecordType::FlowEnd:
        append_flow(names, batch, record, at);
        break;
      case RecordType::Sample: {
        const TrackId on = track(names, record.track);
        if (builder_.takes(Point::Sample, record.time))
          samples_.push_back(
              {record.time, on, string(names, record.name), string(names, record.category), 1});
        break;
      }
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
void EventAssembler::append_arguments(ReaderNames& names, const Batch& batch, Cursor& at,
                                      Owner owner) {
  const std::uint32_t count = batch.argument_counts[at.argument_count++];
  for (std::uint32_t i = 0; i < count; ++i) add_argument(owner, next_argument(names, batch, at));
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
  if (selection_ != nullptr) {
    const Taken taken = selection_->takes(record.time, record.duration, on, record.kind,
                                          ids_of(batch, record, at), names.texts[record.name]);
    if (taken != Taken::Whole) return append_bare_slice(names, batch, record, at, on, taken);
  }
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
  last_slice_[on.index()] = {record.time, slice, true, true};
}

// A slice that is left out, or of which only its place and its ids are kept.
void EventAssembler::append_bare_slice(ReaderNames& names, const Batch& batch, const Record& record,
                                       Cursor& at, TrackId on, Taken taken) {
  SliceId slice;
  if (taken == Taken::Bare) {
    slice = builder_.add_slice(record.time, record.duration, on, string(names, record.name),
                               record.kind);
    if (record.rows & kOperatorRow) builder_.add_operator(slice, ids_only(batch.operators[at.op]));
    if (record.rows & kLaunchRow) builder_.add_launch(slice, batch.launches[at.launch]);
    if (record.rows & kDeviceRow) builder_.add_device_work(slice, batch.device_work[at.device]);
  }
  place_track(record.kind, on, record.rows & kDeviceRow ? batch.device_work[at.device].device : -1);
  skip_rows(batch, record, at);
  last_slice_[on.index()] = {
      record.time, slice, true,
      selection_->may_hold(record.time, record.time + record.duration, record.kind)};
}

SliceIds EventAssembler::ids_of(const Batch& batch, const Record& record, const Cursor& at) {
  SliceIds ids;
  if (record.rows & kOperatorRow) {
    ids.external_id = batch.operators[at.op].external_id;
    ids.sequence = batch.operators[at.op].sequence;
  } else if (record.rows & kLaunchRow) {
    ids.correlation = batch.launches[at.launch].correlation;
    ids.external_id = batch.launches[at.launch].external_id;
    ids.is_call = true;
  } else if (record.rows & kDeviceRow) {
    ids.correlation = batch.device_work[at.device].correlation;
  }
  return ids;
}

void EventAssembler::skip_rows(const Batch& batch, const Record& record, Cursor& at) {
  at.op += (record.rows & kOperatorRow) != 0;
  at.launch += (record.rows & kLaunchRow) != 0;
  at.device += (record.rows & kDeviceRow) != 0;
  at.python += (record.rows & kPythonRow) != 0;
  at.collective += (record.rows & kCollectiveRow) != 0;
  if (record.rows & kArgumentRow) at.argument += batch.argument_counts[at.argument_count++];
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
  else if (selection_ != nullptr)
    close_followed_halves();
  else
    close_halves();
  add_samples(builder_, samples_, metadata);
  name_tracks();
  builder_.nest(threads);
  draw_flows();
}

}  // namespace sonde
