#include "import/trace_event/reader.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>

#include "import/json/lenient.hpp"
#include "import/trace_event/fields.hpp"

namespace sonde {
namespace {

// A thread's own strings are let go when they take this much, so that names that never come again
// do not lie around in every thread.
constexpr std::size_t kMaxLocalStringBytes = 16 * 1024 * 1024;

// "stream 7", "stream 7 annotations" and "25738" of the first years are numbers today.
void normalise_thread(ScalarText& id) {
  if (id.type != ScalarText::Type::Text) return;
  std::string_view text = id.text.text;
  const bool stream = text.starts_with("stream ");
  if (stream) text.remove_prefix(7);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || text.empty()) return;
  if (parsed.ptr != text.data() + text.size() && !stream) return;
  id.type = ScalarText::Type::Number;
  id.number = number;
}

std::int32_t small(std::int64_t value) {
  return value >= INT32_MIN && value <= INT32_MAX ? static_cast<std::int32_t>(value) : -1;
}

// MXNet numbers its devices from 0 and never has more than a few hundred.
bool is_mxnet_device(std::int64_t pid) { return pid >= 0 && pid < 65536; }

float narrow(double value) { return std::fabs(value) <= FLT_MAX ? static_cast<float>(value) : -1; }

bool is_launch_flow(std::string_view category) {
  return category == "ac2g" || category == "async_cpu_to_gpu" || category == "async" ||
         category == "async_gpu";
}

}  // namespace

EventReader::EventReader(std::size_t number, Dialect dialect)
    : number_(number), dialect_(dialect) {}

std::unique_ptr<Batch> EventReader::read(const EventBlock& block, std::unique_ptr<Batch> spare) {
  batch_ = spare ? std::move(spare) : std::make_unique<Batch>();
  batch_->sequence = block.sequence;
  batch_->disk_offset = block.disk_offset;
  batch_->reader = number_;
  batch_->records.reserve(block.events.size());
  forget_strings_if_many();
  batch_->strings_epoch = epoch_;
  batch_->string_owner = strings_;
  for (const EventSpan& span : block.events) {
    const bool cut = block.last_is_cut && &span == &block.events.back();
    const std::string_view text = block.event(span);
    if (!cut && parser_.parse(text, event_)) {
      ++batch_->events;
      take(event_, block.offset + span.begin, text);
    } else {
      read_broken_event(text, block.offset + span.begin, cut);
    }
  }
  return std::move(batch_);
}

void EventReader::forget_strings_if_many() {
  if (strings_ && strings_->bytes() < kMaxLocalStringBytes) return;
  strings_ = std::make_shared<StringPool>();
  ++epoch_;
  categories_.clear();
  category_known_.clear();
  tracks_.clear();
  track_ids_ = {};
  last_track_ = kNoLocal;
  parser_.forget();
  batch_->new_strings.emplace_back();  // local id 0: the empty string
  memory_name_ = intern("[memory]");
  out_of_memory_name_ = intern("[OutOfMemory]");
}

// Text that is not one well-formed event: several whose borders a stray quote hid, one with quotes
// in its name, or the end of a file that was cut.
void EventReader::read_broken_event(std::string_view text, std::uint64_t offset, bool cut) {
  const std::vector<std::string_view> pieces = split_leniently(text);
  for (const std::string_view& piece : pieces) {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(piece.data() - text.data());
    if (read_piece(piece, at)) continue;
    const bool last = &piece == &pieces.back();
    const EventEnd end = last ? end_of_last_event(piece) : EventEnd{};
    if (end.at != std::string_view::npos && read_piece(piece.substr(0, end.at), at)) {
      batch_->losses.add("metadata_hidden", Severity::Warning,
                         "Top-level values behind the events, hidden by raw quotes in an event; "
                         "they were passed over.",
                         end.keys_follow ? 1 : 0, at + end.at, piece.substr(end.at));
    } else if (cut && last) {
      batch_->losses.add(
          "input_cut", Severity::Warning,
          "The file ends before its JSON does: it was cut. All events before the cut are read.", 1,
          at, piece);
    } else {
      ++batch_->events;
      batch_->losses.add("event_unreadable", Severity::Warning,
                         "Events that are not well-formed JSON; they were passed over.", 1, at,
                         piece);
    }
  }
}

// Takes one event, its quotes mended where they must be; false where that does not make it
// readable.
bool EventReader::read_piece(std::string_view piece, std::uint64_t offset) {
  const bool well_formed = parse_event(piece, event_);
  if (!well_formed) {
    mend_quotes(piece, mended_);
    if (!parse_event(mended_, event_)) return false;
    batch_->losses.add(
        "event_mended", Severity::Info,
        "Events with raw quotes inside of a text; the quotes were taken for a part of it.", 1,
        offset, piece);
  }
  ++batch_->events;
  take(event_, offset, piece);
  return true;
}

void EventReader::take(const Event& event, std::uint64_t offset, std::string_view text) {
  Record record;
  record.time = event.time;
  record.scope = event.scope;
  const bool timeless = event.phase == 'M';
  if (!timeless && (event.time_state == TimeState::Missing || event.time_state == TimeState::Bad)) {
    batch_->losses.add(
        event.time_state == TimeState::Bad ? "time_unusable" : "time_missing", Severity::Warning,
        event.time_state == TimeState::Bad
            ? "Events whose time is no number that a clock can show; they were passed over."
            : "Events without a time; they were passed over.",
        1, offset, text);
    return;
  }
  if (!timeless &&
      (event.time_state == TimeState::Quoted || event.duration_state == TimeState::Quoted)) {
    batch_->losses.add("time_as_text", Severity::Info,
                       "Events whose time stands in quotes; it was read as a number.", 1, offset,
                       text);
  }
  if (event.odd_id) {
    batch_->losses.add(
        "id_unusable", Severity::Warning,
        "Events whose pid, tid or id is neither a number nor a text; 0 was taken for it.", 1,
        offset, text);
  }
  switch (event.phase) {
    case 'X':
      return take_slice(event, record, offset, text);
    case 'B':
    case 'E':
      record.type = event.phase == 'B' ? RecordType::Begin : RecordType::End;
      record.name = event.name.text.empty() ? 0 : intern(event.name);
      record.track = track(event);
      return take_half(event, record);
    case 'i':
    case 'I':
    case 'R':
      return take_instant(event, record);
    case 'C':
      return take_counter(event, record);
    case 's':
    case 't':
    case 'f':
      return take_flow(event, record);
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'F':
    case 'T':
    case 'p':
      return take_async(event, record);
    case 'M':
      return take_metadata(event, record);
    case 'P':
      return take_sample(event, record);
    case 'N':
    case 'O':
    case 'D':
      batch_->losses.add("object_events", Severity::Info,
                         "Object life-time events (N, O, D) have no place in Sonde's model; they "
                         "were passed over.",
                         1, offset, text);
      return;
    case '(':
    case ')':
      if (dialect_ == Dialect::MXNet) return take_async(event, record);
      [[fallthrough]];
    case 'V':
    case 'v':
    case 'c':
      batch_->losses.add(
          "unused_phase", Severity::Info,
          "Memory dumps, clock marks and contexts (v, V, c, parentheses) are not used.", 1, offset,
          text);
      return;
    default:
      batch_->losses.add(
          "unknown_phase", Severity::Warning,
          "Events of a type (ph) that the format does not have; they were passed over.", 1, offset,
          text);
  }
}

void EventReader::take_slice(const Event& event, Record& record, std::uint64_t offset,
                             std::string_view text) {
  record.duration = event.duration;
  if (event.duration_state == TimeState::Missing) {
    record.duration = 0;
    batch_->losses.add("duration_missing", Severity::Warning,
                       "Complete events (ph X) without a duration; they are kept with 0.", 1,
                       offset, text);
  } else if (event.duration_state == TimeState::Bad || event.duration > kMaxDuration) {
    record.duration = 0;
    batch_->losses.add(
        "duration_unusable", Severity::Warning,
        "Durations that are no number, or longer than ten years; the events are kept with 0.", 1,
        offset, text);
  } else if (event.duration < 0) {
    record.duration = 0;
    batch_->losses.add("duration_negative", Severity::Warning,
                       "Negative durations; the events are kept with 0.", 1, offset, text);
  }
  record.name = intern_name(event);
  record.track = track(event);
  take_rows(event, record);
}

// The side-table rows that the event's kind has, and the record itself.
void EventReader::take_rows(const Event& event, Record& record) {
  const LocalId category = intern_category(event);
  if (category_known_.size() <= category) {
    category_known_.resize(category + 1, false);
    categories_.resize(category + 1);
  }
  if (!category_known_[category]) {
    categories_[category] = kineto_category(strings_->view(StringId(category)));
    category_known_[category] = true;
    batch_->new_categories.push_back(category);
  }
  const KinetoCategory known = categories_[category];
  record.kind = kineto_kind_by_name(known.kind, event.name.text);
  if (!known.known) {
    record.kind = dialect_ == Dialect::Kineto ? SliceKind::Other : SliceKind::UserRange;
    if (dialect_ == Dialect::Kineto) {
      batch_->losses.add(
          "unknown_category", Severity::Info,
          "Events of a category that Sonde does not know; they are kept as kind \"other\".");
    }
  }
  if (!known.known || record.kind == SliceKind::Other) {
    record.category = category;
    record.rows |= kCategoryRow;
  }

  const EventArgs& args = event.args;
  const RareArgs& rare = event.rare;
  if (is_host_operator(record.kind) || record.kind == SliceKind::Step) {
    if (known.known || args.external_id != kNoNumber || !args.shapes.empty()) {
      OperatorRow row;
      row.external_id = args.external_id;
      row.sequence = args.sequence;
      row.forward_thread = args.forward_thread == kNoNumber ? -1 : small(args.forward_thread);
      row.order = small(args.order == kNoNumber ? -1 : args.order);
      row.stack = local_string(rare.stack);
      row.module = local_string(rare.module);
      row.is_annotation = known.annotation;
      batch_->operators.push_back(row);
      batch_->inputs.push_back(intern_inputs(event));
      record.rows |= kOperatorRow;
    }
  } else if (is_launch_call(record.kind) || record.kind == SliceKind::Sync ||
             record.kind == SliceKind::Overhead) {
    batch_->launches.push_back({args.correlation, args.external_id, args.cbid});
    record.rows |= kLaunchRow;
  } else if (record.kind == SliceKind::PythonFunction || record.kind == SliceKind::Module) {
    batch_->python.push_back({rare.python_id, rare.python_parent, rare.python_module});
    record.rows |= kPythonRow;
  }
  if (is_device_work(record.kind) || record.kind == SliceKind::DeviceRange ||
      (record.kind == SliceKind::Sync && rare.stream != kNoNumber)) {
    DeviceRow row;
    row.correlation = args.correlation;
    row.external_id = args.external_id;
    row.stream = rare.stream;
    row.context = rare.context == kNoNumber ? -1 : small(rare.context);
    row.bytes = rare.bytes;
    row.device = rare.device == kNoNumber ? -1 : small(rare.device);
    row.registers = rare.registers == kNoNumber ? -1 : small(rare.registers);
    row.shared_memory = rare.shared_memory == kNoNumber ? -1 : small(rare.shared_memory);
    for (std::size_t i = 0; i < 3; ++i) {
      row.grid[i] = small(rare.grid[i]);
      row.block[i] = small(rare.block[i]);
    }
    row.blocks_per_sm = narrow(rare.blocks_per_sm);
    row.warps_per_sm = narrow(rare.warps_per_sm);
    row.occupancy = narrow(rare.occupancy);
    row.bandwidth = narrow(rare.bandwidth);
    batch_->device_work.push_back(row);
    record.rows |= kDeviceRow;
  }
  if (!rare.collective.text.empty()) {
    CollectiveRow row;
    row.collective = local_string(rare.collective);
    row.dtype = local_string(rare.dtype);
    row.group = local_string(rare.group);
    row.group_description = local_string(rare.group_description);
    row.group_ranks = local_string(rare.group_ranks);
    row.in_elements = rare.in_elements;
    row.out_elements = rare.out_elements;
    row.group_size = rare.group_size;
    row.sequence = rare.collective_sequence;
    batch_->collectives.push_back(row);
    record.rows |= kCollectiveRow;
  }
  if (dialect_ == Dialect::Chrome || event.has_unknown_arguments) take_arguments(event, record);
  batch_->records.push_back(record);
}

// Arguments that have no column: all of a generic trace, and what Kineto's list of keys lacks.
void EventReader::take_arguments(const Event& event, Record& record) {
  JsonCursor in(event.args_text);
  if (!in.take('{') || in.peek() == '}') return;
  std::uint32_t count = 0;
  do {
    RawString key;
    std::string_view value;
    if (!in.string(key) || !in.take(':') || !in.raw_value(value)) break;
    if (dialect_ != Dialect::Chrome && argument_field(key.text) != Field::UnknownArgument) continue;
    LocalArgument argument;
    argument.key = intern(key);
    set_value(value, argument);
    batch_->arguments.push_back(argument);
    ++count;
  } while (in.take(','));
  if (count == 0) return;
  batch_->argument_counts.push_back(count);
  record.rows |= kArgumentRow;
}

void EventReader::set_value(std::string_view value, LocalArgument& argument) {
  const char* const end = value.data() + value.size();
  if (value.starts_with('"')) {
    RawString text;
    JsonCursor(value).string(text);
    argument.type = ArgType::Text;
    argument.text = intern(text);
    return;
  }
  const auto whole = std::from_chars(value.data(), end, argument.integer);
  if (whole.ec == std::errc() && whole.ptr == end) return;
  const auto real = std::from_chars(value.data(), end, argument.real);
  if (real.ec == std::errc() && real.ptr == end && std::isfinite(argument.real)) {
    argument.type = ArgType::Real;
    return;
  }
  argument.type = ArgType::Json;
  argument.text = intern(value);
}

// One half of a slice. MXNet's categories say what it is only together with their track: the
// importer finds that out when it puts the halves together.
void EventReader::take_half(const Event& event, Record& record) {
  if (dialect_ != Dialect::MXNet) return take_rows(event, record);
  record.category = event.category.text.empty() ? 0 : intern(event.category);
  record.rows = kCategoryRow;
  batch_->records.push_back(record);
}

void EventReader::take_instant(const Event& event, Record& record) {
  record.name = intern(event.name);
  record.track = track(event);
  record.type = RecordType::Marker;
  if (record.name == memory_name_ || record.name == out_of_memory_name_) {
    record.type = RecordType::Allocation;
    Allocation allocation;
    allocation.address = static_cast<std::uint64_t>(event.rare.address);
    allocation.bytes = event.rare.bytes == kNoNumber ? 0 : event.rare.bytes;
    allocation.total_allocated = event.rare.total_allocated;
    allocation.total_reserved = event.rare.total_reserved;
    allocation.device_type =
        event.rare.device_type == kNoNumber ? 0 : small(event.rare.device_type);
    allocation.device = event.rare.device_id == kNoNumber ? -1 : small(event.rare.device_id);
    allocation.out_of_memory = record.name == out_of_memory_name_;
    batch_->allocations.push_back(allocation);
  } else {
    record.category = intern_category(event);
    take_arguments(event, record);
  }
  batch_->records.push_back(record);
}

void EventReader::take_counter(const Event& event, Record& record) {
  record.type = RecordType::Counter;
  record.name = intern(event.name);
  record.track = track(event);
  JsonCursor in(event.args_text);
  if (!in.take('{') || in.peek() == '}') return;
  do {
    std::string_view series;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!in.key(series) || !in.real(value)) return;
    if (std::isnan(value)) {
      batch_->losses.add("counter_unusable", Severity::Warning,
                         "Counter values that are no finite number; they were passed over.");
      continue;
    }
    record.category = intern(series);
    batch_->counter_values.push_back(value);
    batch_->records.push_back(record);
  } while (in.take(','));
}

void EventReader::take_flow(const Event& event, Record& record) {
  // The arrow from a launch to its kernel says what the correlation id says better.
  if (is_launch_flow(event.category.text) && dialect_ == Dialect::Kineto) return;
  record.type = event.phase == 's'   ? RecordType::FlowStart
                : event.phase == 't' ? RecordType::FlowStep
                                     : RecordType::FlowEnd;
  record.name = intern(event.name);
  record.category = event.category.text.empty() ? 0 : intern(event.category);
  record.track = track(event);
  FlowId id;
  if (event.id.type == ScalarText::Type::Text)
    id.text = intern(event.id.text);
  else
    id.number = event.id.number;
  batch_->flow_ids.push_back(id);
  batch_->records.push_back(record);
}

void EventReader::take_async(const Event& event, Record& record) {
  record.name = intern(event.name);
  if (dialect_ == Dialect::MXNet) {
    record.track = track(event);  // the id is the thread once more
  } else {
    std::string lane(event.category.text);
    lane += ':';
    if (event.id.type == ScalarText::Type::Text)
      lane += event.id.text.text;
    else
      lane += std::to_string(event.id.number);
    record.track = track(event, intern(lane));
  }
  switch (event.phase) {
    case 'b':
    case 'S':
    case '(':
      record.type = RecordType::Begin;
      return take_half(event, record);
    case 'e':
    case 'F':
    case ')':
      record.type = RecordType::End;
      return take_half(event, record);
    default:
      record.type = RecordType::Marker;
      take_arguments(event, record);
      batch_->records.push_back(record);
  }
}

void EventReader::take_metadata(const Event& event, Record& record) {
  const std::string_view name = event.name.text;
  const bool text = name == "process_name" || name == "process_labels" || name == "thread_name";
  const bool index = name == "process_sort_index" || name == "thread_sort_index";
  if (!text && !index) {
    batch_->losses.add("unknown_metadata", Severity::Info,
                       "Metadata events (ph M) of a name that Sonde does not use.");
    return;
  }
  record.type = name == "process_name"        ? RecordType::ProcessName
                : name == "process_labels"    ? RecordType::ProcessLabels
                : name == "thread_name"       ? RecordType::ThreadName
                : name == "thread_sort_index" ? RecordType::ThreadSortIndex
                                              : RecordType::ProcessSortIndex;
  record.track = track(event);
  JsonCursor in(event.args_text);
  if (!in.take('{') || in.peek() == '}') return;
  do {
    std::string_view key;
    if (!in.key(key)) return;
    if (text && (key == "name" || key == "labels") && in.peek() == '"') {
      RawString value;
      if (!in.string(value)) return;
      record.category = intern(value);
    } else if (index && key == "sort_index") {
      if (!in.integer(record.duration)) return;
    } else if (!in.skip_value()) {
      return;
    }
  } while (in.take(','));
  batch_->records.push_back(record);
}

void EventReader::take_sample(const Event& event, Record& record) {
  record.type = RecordType::Sample;
  record.name = intern(event.name);
  record.track = track(event);
  record.category = event.stack_frame.text.empty() ? 0 : intern(event.stack_frame);
  batch_->records.push_back(record);
}

InputTexts EventReader::intern_inputs(const Event& event) {
  const std::array<std::string_view, ExpectedInputs::kTexts> texts = {
      event.args.shapes, event.args.types, event.args.strides, event.args.concrete};
  std::array<LocalId, ExpectedInputs::kTexts> ids{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (event.as_expected & 1u << i) {
      ids[i] = event.expected->ids[i];
      continue;
    }
    ids[i] = intern_optional(texts[i]);
    // Only lists: the end of a bare number cannot be told from the number itself.
    if (event.expected != nullptr && texts[i].starts_with('[')) {
      event.expected->texts[i] = strings_->view(StringId(ids[i]));
      event.expected->ids[i] = ids[i];
    }
  }
  return {ids[0], ids[1], ids[2], ids[3]};
}

LocalId EventReader::intern(std::string_view text) {
  const std::size_t before = strings_->size();
  const StringId id = strings_->intern(text);
  if (strings_->size() != before) batch_->new_strings.push_back(strings_->view(id));
  return id.value;
}

LocalId EventReader::intern(const RawString& text) {
  if (!text.has_escapes) return intern(text.text);
  unescape_json(text.text, scratch_);
  return intern(std::string_view(scratch_));
}

// The name as it was when it last came after the same neighbour, if it is the same again.
LocalId EventReader::intern_name(const Event& event) {
  if (event.expected == nullptr || event.name.has_escapes) return intern(event.name);
  if (event.expected->name != event.name.text) {
    event.expected->name_id = intern(event.name.text);
    event.expected->name = strings_->view(StringId(event.expected->name_id));
  }
  return event.expected->name_id;
}

LocalId EventReader::intern_category(const Event& event) {
  if (event.category.text.empty()) return 0;
  if (event.category_id == nullptr) return intern(event.category);
  if (*event.category_id == kNoLocal) *event.category_id = intern(event.category);
  return *event.category_id;
}

LocalId EventReader::track(const Event& event, LocalId lane) {
  TrackKey key;
  ScalarText tid = event.tid;
  bool in_category = false;
  if (dialect_ == Dialect::Kineto) {
    normalise_thread(tid);
  } else if (dialect_ == Dialect::MXNet) {
    // What ran on no device has the hash of its category for a pid: the category itself says more.
    const bool on_device =
        (event.phase == 'B' || event.phase == 'E') && is_mxnet_device(event.pid.number);
    in_category = !event.category.text.empty() && !on_device;
  }
  if (in_category)
    key.pid_text = intern(event.category);
  else if (event.pid.type == ScalarText::Type::Text)
    key.pid_text = intern(event.pid.text);
  else
    key.pid = event.pid.number;
  if (lane == kNoLocal) {
    if (tid.type == ScalarText::Type::Text)
      key.tid_text = intern(tid.text);
    else
      key.tid = tid.number;
  }
  key.lane = lane;
  return track(key);
}

LocalId EventReader::track(const TrackKey& key) {
  if (last_track_ != kNoLocal && tracks_[last_track_] == key) return last_track_;
  std::uint64_t hash = hash_of(key);
  for (;; hash = mix_bits(hash + 1)) {
    const auto next = static_cast<LocalId>(tracks_.size());
    last_track_ = track_ids_.get_or_insert(hash, next);
    if (last_track_ == next) {
      tracks_.push_back(key);
      batch_->new_tracks.push_back(key);
      return last_track_;
    }
    if (tracks_[last_track_] == key) return last_track_;
  }
}

}  // namespace sonde
