#include "import/trace_event/event.hpp"

namespace sonde {
namespace {

bool scalar(JsonCursor& in, ScalarText& out, bool& odd) {
  const char c = in.peek();
  if (c == '"') {
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

bool time(JsonCursor& in, TimeState& state, Nanos& out) {
  if (in.plain_micros(out)) {
    state = TimeState::Good;
    return true;
  }
  std::string_view text;
  bool quoted = false;
  if (!in.number_text(text, quoted)) return false;
  if (text.empty())
    state = TimeState::Missing;
  else if (!micros_to_nanos(text, out))
    state = TimeState::Bad;
  else
    state = quoted ? TimeState::Quoted : TimeState::Good;
  return true;
}

// An optional string: other types leave it empty.
bool optional_string(JsonCursor& in, RawString& out) {
  if (in.peek() == '"') return in.string(out);
  return in.skip_value();
}

// A string's content or a bare value's text: "Process Group Name" has been both.
bool any_text(JsonCursor& in, RawString& out) {
  if (in.peek() == '"') return in.string(out);
  out.has_escapes = false;
  return in.raw_value(out.text);
}

bool triple(JsonCursor& in, std::int64_t (&out)[3]) {
  if (in.peek() != '[') return in.skip_value();
  in.take('[');
  for (int i = 0; i < 3 && in.peek() != ']'; ++i) {
    if (!in.integer(out[i])) return false;
    if (!in.take(',')) break;
  }
  while (in.peek() != ']') {
    if (!in.skip_value()) return false;
    if (!in.take(',')) break;
  }
  return in.take(']');
}

// One of the four texts of InputPredictor.
bool input_text(JsonCursor& in, Event& event, std::size_t which, std::string_view& out) {
  if (event.expected != nullptr && in.take_exactly(event.expected->texts[which])) {
    out = event.expected->texts[which];
    event.as_expected |= 1u << which;
    return true;
  }
  return in.raw_value(out);
}

// The arguments of operators and calls, which most events have.
// Returns whether the key was known; `ok` is the cursor's verdict.
bool common_argument(JsonCursor& in, std::string_view key, Event& event, bool& ok) {
  EventArgs& args = event.args;
  switch (key.size()) {
    case 4:
      if (key == "cbid") return ok = in.integer(args.cbid), true;
      break;
    case 6:
      if (key == "Ev Idx") return ok = in.integer(args.order), true;
      break;
    case 10:
      if (key == "Input Dims" || key == "Input dims") {
        return ok = input_text(in, event, 0, args.shapes), true;
      }
      if (key == "Input type") return ok = input_text(in, event, 1, args.types), true;
      break;
    case 11:
      if (key == "External id" || key == "external id")
        return ok = in.integer(args.external_id), true;
      if (key == "correlation") return ok = in.integer(args.correlation), true;
      break;
    case 13:
      if (key == "Fwd thread id") return ok = in.integer(args.forward_thread), true;
      if (key == "Input Strides") return ok = input_text(in, event, 2, args.strides), true;
      break;
    case 15:
      if (key == "Sequence number") return ok = in.integer(args.sequence), true;
      if (key == "Concrete Inputs") return ok = input_text(in, event, 3, args.concrete), true;
      break;
    default:
      break;
  }
  return false;
}

// The arguments that only kernels, copies, collectives, Python frames and allocations have.
bool rare_argument(JsonCursor& in, std::string_view key, RareArgs& args) {
  const bool used_before = args.used;
  args.used = true;
  switch (key.size()) {
    case 3:
      if (key == "Seq") return in.integer(args.collective_sequence);
      break;
    case 4:
      if (key == "grid") return triple(in, args.grid);
      if (key == "Addr") return in.integer(args.address);
      break;
    case 5:
      if (key == "block") return triple(in, args.block);
      if (key == "bytes" || key == "Bytes") return in.integer(args.bytes);
      if (key == "dtype") return any_text(in, args.dtype);
      break;
    case 6:
      if (key == "device") return in.integer(args.device);
      if (key == "stream") return in.integer(args.stream);
      break;
    case 7:
      if (key == "context") return in.integer(args.context);
      break;
    case 9:
      if (key == "Python id") return in.integer(args.python_id);
      if (key == "Device Id") return in.integer(args.device_id);
      break;
    case 10:
      if (key == "Call stack") return optional_string(in, args.stack);
      if (key == "Group size") return in.integer(args.group_size);
      break;
    case 11:
      if (key == "Device Type") return in.integer(args.device_type);
      break;
    case 12:
      if (key == "warps per SM") return in.real(args.warps_per_sm);
      break;
    case 13:
      if (key == "blocks per SM") return in.real(args.blocks_per_sm);
      if (key == "shared memory") return in.integer(args.shared_memory);
      if (key == "In msg nelems") return in.integer(args.in_elements);
      break;
    case 14:
      if (key == "Out msg nelems") return in.integer(args.out_elements);
      if (key == "Total Reserved") return in.integer(args.total_reserved);
      break;
    case 15:
      if (key == "Total Allocated") return in.integer(args.total_allocated);
      if (key == "Collective name") return any_text(in, args.collective);
      break;
    case 16:
      if (key == "Python parent id") return in.integer(args.python_parent);
      if (key == "Python module id") return in.integer(args.python_module);
      if (key == "Module Hierarchy") return optional_string(in, args.module);
      break;
    case 18:
      if (key == "Process Group Name") return any_text(in, args.group);
      break;
    case 19:
      if (key == "Process Group Ranks") return any_text(in, args.group_ranks);
      break;
    case 20:
      if (key == "registers per thread") return in.integer(args.registers);
      break;
    case 23:
      if (key == "memory bandwidth (GB/s)") return in.real(args.bandwidth);
      if (key == "theoretical occupancy %") return in.real(args.occupancy);
      break;
    case 25:
      if (key == "est. achieved occupancy %") return in.real(args.occupancy);
      if (key == "Process Group Description") return any_text(in, args.group_description);
      break;
    default:
      break;
  }
  args.used = used_before;  // a key that nobody asks for
  return in.skip_value();
}

bool arguments(JsonCursor& in, Event& event, InputPredictor* predictor) {
  if (in.peek() != '{') return in.skip_value();
  const char* const begin = in.position();
  if (predictor != nullptr && !event.name.text.empty()) {
    event.expected = &predictor->expect(event.name.text);
  }
  in.take('{');
  if (in.peek() != '}') {
    do {
      std::string_view key;
      if (!in.key(key)) return false;
      bool ok = true;
      if (!common_argument(in, key, event, ok)) ok = rare_argument(in, key, event.rare);
      if (!ok) return false;
    } while (in.take(','));
  }
  if (!in.take('}')) return false;
  event.args_text = {begin, static_cast<std::size_t>(in.position() - begin)};
  return true;
}

bool member(JsonCursor& in, std::string_view key, Event& event, InputPredictor* predictor) {
  switch (key.size()) {
    case 1:
      if (key == "s") {
        RawString text;
        if (!optional_string(in, text)) return false;
        if (!text.text.empty()) event.scope = text.text[0];
        return true;
      }
      break;
    case 2:
      if (key == "ts") return time(in, event.time_state, event.time);
      if (key == "id") return scalar(in, event.id, event.odd_id);
      if (key == "ph") {
        RawString text;
        if (!optional_string(in, text)) return false;
        if (!text.text.empty()) event.phase = text.text[0];
        return true;
      }
      if (key == "sf") return any_text(in, event.stack_frame);
      break;
    case 3:
      if (key == "dur") return time(in, event.duration_state, event.duration);
      if (key == "cat") return optional_string(in, event.category);
      if (key == "pid") return scalar(in, event.pid, event.odd_id);
      if (key == "tid") return scalar(in, event.tid, event.odd_id);
      if (key == "id2") {
        std::string_view text;
        if (!in.raw_value(text)) return false;
        event.id.type = ScalarText::Type::Text;
        event.id.text = {text, false};
        return true;
      }
      break;
    case 4:
      if (key == "name") return any_text(in, event.name);
      if (key == "args") return arguments(in, event, predictor);
      break;
    default:
      break;
  }
  return in.skip_value();
}

}  // namespace

bool parse_event(std::string_view text, Event& event, InputPredictor* predictor) {
  event.clear();
  JsonCursor in(text);
  if (!in.take('{')) return false;
  if (in.peek() != '}') {
    do {
      if (in.peek() == '}') break;  // a comma too many
      std::string_view key;
      if (!in.key(key) || !member(in, key, event, predictor)) return false;
    } while (in.take(','));
  }
  return in.take('}') && in.peek() == '\0';
}

}  // namespace sonde
