#include "import/trace_event/reader.hpp"

#include "import/json/lenient.hpp"

namespace sonde {

EventReader::EventReader(std::size_t number, Dialect dialect, std::size_t most_string_bytes)
    : number_(number), dialect_(dialect), most_string_bytes_(most_string_bytes) {}

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
  if (strings_ && strings_->bytes() < most_string_bytes_) return;
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

// One half of a slice. MXNet's categories say what it is only together with their track: the
// importer finds that out when it puts the halves together.
void EventReader::take_half(const Event& event, Record& record) {
  if (dialect_ != Dialect::MXNet) return take_rows(event, record);
  record.category = event.category.text.empty() ? 0 : intern(event.category);
  record.rows = kCategoryRow;
  batch_->records.push_back(record);
}

}  // namespace sonde
