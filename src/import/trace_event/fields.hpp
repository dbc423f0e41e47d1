#pragma once

#include <string_view>

#include "import/trace_event/event.hpp"

namespace sonde {

// What a member of an event, or of its arguments, means to Sonde.
enum class Field : std::uint8_t {
  Ignored,          // known, and of no use
  UnknownMember,    // a key of the event itself that nobody knows
  UnknownArgument,  // kept as an argument of the slice
  Phase,
  Category,
  Name,
  Time,
  Duration,
  Pid,
  Tid,
  Id,
  Id2,
  Scope,
  StackFrame,
  Arguments,
  ExternalId,
  Correlation,
  Cbid,
  Sequence,
  ForwardThread,
  Order,
  Shapes,
  Types,
  Strides,
  Concrete,
  // From here on: fields of RareArgs.
  Device,
  Stream,
  Context,
  Bytes,
  Registers,
  SharedMemory,
  Grid,
  Block,
  BlocksPerSm,
  WarpsPerSm,
  Occupancy,
  Bandwidth,
  PythonId,
  PythonParent,
  PythonModule,
  Address,
  DeviceType,
  DeviceId,
  TotalAllocated,
  TotalReserved,
  InElements,
  OutElements,
  GroupSize,
  CollectiveSequence,
  Stack,
  Module,
  Collective,
  Dtype,
  Group,
  GroupDescription,
  GroupRanks,
};

// By the key as it stands in the file.
Field event_field(std::string_view key);
Field argument_field(std::string_view key);

// Reads the value that comes next into its place. False where it is no JSON value. Not for
// Field::Arguments, which is an object with fields of its own.
bool read_odd_time(JsonCursor& in, TimeState& state, Nanos& out);
bool read_rare_field(JsonCursor& in, Field field, Event& event);

inline bool read_time(JsonCursor& in, TimeState& state, Nanos& out) {
  if (!in.plain_micros(out)) return read_odd_time(in, state, out);
  state = TimeState::Good;
  return true;
}

// A number or a text; other types count as odd.
inline bool read_scalar(JsonCursor& in, ScalarText& out, bool& odd) {
  if (in.peek() == '"') {
    out.type = ScalarText::Type::Text;
    return in.string(out.text);
  }
  out.number = kNoNumber;
  if (!in.integer(out.number)) return false;
  out.type = ScalarText::Type::Number;
  if (out.number == kNoNumber) {
    out = {};
    odd = true;
  }
  return true;
}

// A string's content or a bare value's text: "Process Group Name" has been both.
inline bool read_any_text(JsonCursor& in, RawString& out) {
  if (in.peek() == '"') return in.string(out);
  out.has_escapes = false;
  return in.raw_value(out.text);
}

// An optional string: other types leave it empty.
inline bool read_optional_string(JsonCursor& in, RawString& out) {
  if (in.peek() == '"') return in.string(out);
  return in.skip_value();
}

// One of the four texts of InputPredictor.
inline bool read_input(JsonCursor& in, Event& event, std::size_t which, std::string_view& out) {
  if (event.expected != nullptr && in.take_exactly(event.expected->texts[which])) {
    out = event.expected->texts[which];
    event.as_expected |= 1u << which;
    return true;
  }
  return in.raw_value(out);
}

[[gnu::always_inline]] inline bool read_field(JsonCursor& in, Field field, Event& event) {
  switch (field) {
    case Field::Ignored:
    case Field::UnknownMember:
      return in.skip_value();
    case Field::UnknownArgument:
      event.has_unknown_arguments = true;
      return in.skip_value();
    case Field::Category:
      event.category_id = nullptr;
      return read_optional_string(in, event.category);
    case Field::Name:
      return read_any_text(in, event.name);
    case Field::Time:
      return read_time(in, event.time_state, event.time);
    case Field::Duration:
      return read_time(in, event.duration_state, event.duration);
    case Field::Pid:
      return read_scalar(in, event.pid, event.odd_id);
    case Field::Tid:
      return read_scalar(in, event.tid, event.odd_id);
    case Field::Id:
      return read_scalar(in, event.id, event.odd_id);
    case Field::ExternalId:
      return in.integer(event.args.external_id);
    case Field::Correlation:
      return in.integer(event.args.correlation);
    case Field::Cbid:
      return in.integer(event.args.cbid);
    case Field::Sequence:
      return in.integer(event.args.sequence);
    case Field::ForwardThread:
      return in.integer(event.args.forward_thread);
    case Field::Order:
      return in.integer(event.args.order);
    case Field::Shapes:
      return read_input(in, event, 0, event.args.shapes);
    case Field::Types:
      return read_input(in, event, 1, event.args.types);
    case Field::Strides:
      return read_input(in, event, 2, event.args.strides);
    case Field::Concrete:
      return read_input(in, event, 3, event.args.concrete);
    default:
      return read_rare_field(in, field, event);
  }
}

}  // namespace sonde
