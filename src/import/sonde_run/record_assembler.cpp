#include "import/sonde_run/record_assembler.hpp"

#include <algorithm>

#include <bit>
#include <cstring>
#include <string>

#include "import/kineto/categories.hpp"
#include "trace/selection.hpp"

namespace sonde {

using file::Record;
using file::RecordType;

namespace {

SliceIds linked_by(std::uint64_t id) {
  SliceIds ids;
  ids.link = id;
  return ids;
}

}  // namespace

void RecordAssembler::add_chunk(const RecordChunk& chunk) {
  thread_ = chunk.thread;
  arguments_.clear();
  place_ = {};
  for (std::size_t at = 0; at + sizeof(Record) <= chunk.size; at += sizeof(Record)) {
    Record record{};
    std::memcpy(&record, chunk.bytes.get() + at, sizeof record);
    if (record.word == 0) return;
    offset_ = chunk.offset + at;
    ++records_;
    const RecordType type = file::word_type(record.word);
    if (type == RecordType::Argument) {
      add_waiting_argument(record);
    } else if (type == RecordType::Place) {
      place_.stream = static_cast<std::int64_t>(record.a);
      place_.device = record.b <= INT32_MAX ? static_cast<std::int32_t>(record.b) : -1;
    } else {
      add_record(record);
      if (!arguments_.empty()) lose_arguments();
      place_ = {};
    }
  }
}

void RecordAssembler::add_record(const Record& record) {
  Nanos time = 0;
  const RecordType type = file::word_type(record.word);
  switch (type) {
    case RecordType::Slice:
      return add_slice(record);
    case RecordType::AsyncSlice:
      return add_async_slice(record);
    case RecordType::AsyncBegin:
    case RecordType::AsyncEnd:
      if (!time_of(record.a, time)) return;
      halves_.push_back(
          {time, record.b, name_of(record), domain_of(record), type == RecordType::AsyncBegin});
      return;
    case RecordType::Counter:
      return add_counter(record);
    case RecordType::Marker:
      if (!time_of(record.a, time)) return;
      return take_arguments(add_marker(time, name_of(record), domain_of(record),
                                       static_cast<char>(file::word_extra(record.word))));
    case RecordType::Allocation:
      return add_allocation(record);
    case RecordType::Link:
      if (selection_ != nullptr) {
        selection_->note_link(record.b, record.c);
        if (selection_->phase() != Selection::Phase::Build || !selection_->needs_link(record.b) ||
            !selection_->needs_link(record.c))
          return;
      }
      links_.push_back({record.b, record.c});
      return;
    case RecordType::Thread:
      thread_ = static_cast<std::uint32_t>(record.b);
      return;
    case RecordType::ThreadName: {
      if (!time_of(record.a, time)) return;
      const auto id = static_cast<std::uint32_t>(record.b);
      ThreadName& known = thread_names_.try_emplace(id, ThreadName{time, {}}).first->second;
      if (time >= known.time) known = {time, name_of(record)};
      return;
    }
    case RecordType::ProcessName:
      if (!time_of(record.a, time)) return;
      if (time >= process_name_.time) process_name_ = {time, name_of(record)};
      return;
    case RecordType::DeviceSlice:
      return add_device_slice(record);
    case RecordType::Operator:
      add_operator(record);
      return;
    case RecordType::PlacedOperator:
      return add_placed_operator(record);
    case RecordType::CallPlace:
      if (record.b != 0 && record.b <= UINT32_MAX && record.c <= UINT32_MAX) {
        places_.add_call(static_cast<std::uint32_t>(record.c),
                         static_cast<std::uint32_t>(record.b));
      } else {
        lose("bad_call_places", Severity::Warning,
             "Places of CUDA calls whose numbers cannot be; they are left out");
      }
      return;
    case RecordType::Schedule:
      if (!time_of(record.a, time)) return;
      if (record.b == 0) {
        lose("recording_paused", Severity::Info,
             "The program paused the recording; what it did meanwhile is not here");
      }
      add_marker(time, builder_.intern(record.b != 0 ? "recording resumed" : "recording paused"),
                 StringId(), 'p');
      return;
    case RecordType::Argument:
    case RecordType::Place:
    case RecordType::None:
      break;
  }
  lose("unknown_records", Severity::Warning,
       "Records of a type that this Sonde does not know; they are left out");
}

void RecordAssembler::add_slice(const Record& record) {
  Nanos start = 0;
  Nanos end = 0;
  if (!time_of(record.a, start) || !time_of(record.b, end)) return;
  const SliceKind kind = kind_of(file::word_extra(record.word));
  StringId text = name_of(record);
  if (kind == SliceKind::Step) {
    text = builder_.intern(std::string(builder_.text(text)) + "#" + std::to_string(record.c));
  }
  const std::uint64_t link = kind == SliceKind::Step ? 0 : record.c;
  const SliceId slice =
      append_slice(start, end, thread_track(), text, domain_of(record), kind, linked_by(link));
  take_arguments(slice);
  remember(host_ids_, link, slice);
}

void RecordAssembler::add_async_slice(const Record& record) {
  Nanos start = 0;
  Nanos end = 0;
  if (!time_of(record.a, start) || !time_of(record.b, end)) return;
  StringId domain = domain_of(record);
  // Frames and tasks of one domain do not count together.
  if (file::word_extra(record.word) == static_cast<std::uint8_t>(file::AsyncKind::Frame)) {
    domain = builder_.intern(std::string(builder_.text(domain)) + ",frame");
  }
  const SliceId slice =
      append_slice(start, end, tracks_.domain(TrackType::Async, domain), name_of(record), domain,
                   SliceKind::UserRange, linked_by(record.c));
  take_arguments(slice);
  remember(host_ids_, record.c, slice);
}

void RecordAssembler::add_placed_operator(const Record& record) {
  Record plain = record;
  plain.b = record.a + file::placed_ticks(record);
  plain.word = file::make_word(file::word_name(record.word), 0, RecordType::Operator,
                               file::word_extra(record.word));
  const SliceId slice = add_operator(plain);
  const std::uint32_t frame = file::placed_frame(record);
  if (slice.valid() && frame != 0) places_.add(slice, frame);
}

// Invalid where it is left out.
SliceId RecordAssembler::add_operator(const Record& record) {
  Nanos start = 0;
  Nanos end = 0;
  if (!time_of(record.a, start) || !time_of(record.b, end)) return {};
  const auto scope = static_cast<file::OperatorScope>(file::word_extra(record.word));
  const bool user = scope == file::OperatorScope::User;
  const StringId text = name_of(record);
  const SliceKind kind =
      kineto_kind_by_name(user ? SliceKind::UserRange : SliceKind::Operator, builder_.text(text));
  SliceIds ids;
  const auto sequence = static_cast<std::uint32_t>(record.c);
  if (sequence != 0) ids.sequence = std::int64_t{sequence} - 1;
  const SliceId slice = append_slice(start, end, thread_track(), text, StringId(), kind, ids);
  if (!slice.valid()) return {};
  OperatorRow row;
  row.sequence = ids.sequence;
  // Threads are not numbered here: any number above 0 says that it runs backward.
  row.forward_thread = scope == file::OperatorScope::Backward ? 1 : 0;
  if (const auto shapes = static_cast<std::uint32_t>(record.c >> 32)) {
    OperatorInputs inputs;
    inputs.shapes = name(shapes);
    row.inputs = builder_.intern_inputs(inputs);
    builder_.meta().record_shapes = true;
  }
  row.is_annotation = user;
  builder_.add_operator(slice, row);
  take_arguments(slice);
  has_operators_ = true;
  return slice;
}

void RecordAssembler::add_device_slice(const Record& record) {
  Nanos start = 0;
  Nanos end = 0;
  if (!time_of(record.a, start) || !time_of(record.b, end)) return;
  const SliceId slice =
      append_slice(start, end, tracks_.stream(place_.device, place_.stream), name_of(record),
                   domain_of(record), kind_of(file::word_extra(record.word)), linked_by(record.c));
  if (slice.valid()) builder_.add_device_work(slice, place_);
  take_arguments(slice);
  remember(device_ids_, record.c, slice);
}

void RecordAssembler::add_counter(const Record& record) {
  CounterValue value;
  value.counter = name_of(record);
  value.track = tracks_.domain(TrackType::Counter, domain_of(record));
  value.value = file::word_extra(record.word) == 1
                    ? std::bit_cast<double>(record.b)
                    : static_cast<double>(static_cast<std::int64_t>(record.b));
  if (!time_of(record.a, value.time)) return;
  if (!builder_.takes(Point::Counter, value.time)) return arguments_.clear();
  counters_.push_back({value, counter_arguments_.size(), arguments_.size()});
  counter_arguments_.insert(counter_arguments_.end(), arguments_.begin(), arguments_.end());
  arguments_.clear();
}

void RecordAssembler::add_allocation(const Record& record) {
  Allocation allocation;
  allocation.tag = name_of(record);
  allocation.pool = domain_of(record);
  allocation.address = record.b;
  allocation.bytes = static_cast<std::int64_t>(record.c);
  allocation.device_type = file::word_extra(record.word) >> 4;
  allocation.device = file::word_extra(record.word) & 0xF;
  allocation.track = thread_track();
  if (!time_of(record.a, allocation.time)) return;
  std::uint32_t kept = kNotKept;
  if (builder_.takes(Point::Allocation, allocation.time)) {
    kept = static_cast<std::uint32_t>(allocations_.size());
    allocations_.push_back(allocation);
  } else if (selection_->phase() != Selection::Phase::Build) {
    builder_.meta().profile_memory = true;
    return;
  }
  allocation_steps_.push_back(
      {allocation.time, allocation.bytes, allocation.device_type, allocation.device, kept});
}

MarkerId RecordAssembler::add_marker(Nanos time, StringId name, StringId domain, char scope) {
  Marker marker;
  marker.time = time;
  marker.track = thread_track();
  marker.name = name;
  marker.scope = scope == 'p' || scope == 'g' ? scope : 't';
  marker.category = domain;
  return builder_.takes(Point::Marker, time) ? builder_.add_marker(marker) : MarkerId();
}

StringId RecordAssembler::name(std::uint32_t id) {
  if (id == 0) return builder_.intern("");
  const StringId text = names_.name(id);
  if (text.valid()) return text;
  lose("unknown_names", Severity::Warning,
       "Records whose name is not in the file; they are called \"(unknown)\"");
  return builder_.intern("(unknown)");
}

StringId RecordAssembler::domain_of(const Record& record) {
  const std::uint16_t id = file::word_domain(record.word);
  return id == 0 ? StringId() : names_.domain(id);
}

SliceKind RecordAssembler::kind_of(std::uint8_t number) {
  if (number < kSliceKindCount) return static_cast<SliceKind>(number);
  lose("unknown_kinds", Severity::Info,
       "Slices of a kind that this Sonde does not know; they are kept as \"other\"");
  return SliceKind::Other;
}

bool RecordAssembler::time_of(std::uint64_t ticks, Nanos& out) {
  if (clock_.to_nanos(ticks, out)) {
    latest_ = std::max(latest_, out);
    return true;
  }
  lose("bad_times", Severity::Warning,
       "Records whose time lies years away from the recording; they are left out");
  return false;
}

SliceId RecordAssembler::append_slice(Nanos start, Nanos end, TrackId track, StringId name,
                                      StringId domain, SliceKind kind, const SliceIds& ids) {
  if (end < start) {
    lose("negative_durations", Severity::Warning,
         "Slices that end before they start; they are kept with 0");
    end = start;
  }
  const Nanos duration = std::min(end - start, kMaxDuration);
  if (builder_.takes(start, duration, track, kind, ids, builder_.text(name)) == Taken::No)
    return {};
  const SliceId slice = builder_.add_slice(start, duration, track, name, kind);
  if (domain.valid()) builder_.add_category(slice, domain);
  return slice;
}

void RecordAssembler::add_waiting_argument(const Record& record) {
  const auto type = static_cast<file::ArgumentType>(file::word_extra(record.word));
  const StringId key = name_of(record);
  switch (type) {
    case file::ArgumentType::Int64:
      if (builder_.text(key) == file::kLostPayloads && static_cast<std::int64_t>(record.b) > 0) {
        builder_.losses().add("nvtx_payloads", Severity::Warning,
                              "Parts of NVTX payloads that could not be read, and NVTX events with "
                              "times of their own; the argument \"payload lost\" tells where",
                              std::min<std::uint64_t>(record.b, 1u << 20), offset_);
      }
      [[fallthrough]];
    case file::ArgumentType::Double:
      arguments_.push_back({key, type, record.b});
      return;
    case file::ArgumentType::Name:
      arguments_.push_back({key, type, name(static_cast<std::uint32_t>(record.b)).value});
      return;
  }
  lose("unknown_arguments", Severity::Warning,
       "Arguments of a type that this Sonde does not know; they are left out");
}

void RecordAssembler::lose_arguments() {
  builder_.losses().add("arguments_without_place", Severity::Info,
                        "Arguments of allocations, links, halves of asynchronous ranges, names and "
                        "records that are left out; nothing keeps them",
                        arguments_.size(), offset_);
  arguments_.clear();
}

void RecordAssembler::lose(const char* name, Severity severity, const char* sentence) {
  builder_.losses().add(name, severity, sentence, 1, offset_);
}

}  // namespace sonde
