#include "import/paddle/json_event.hpp"

#include <charconv>

namespace sonde {
namespace {

bool text(JsonCursor& in, std::string_view& out) {
  if (in.peek() != '"') return in.skip_value();
  RawString raw;
  if (!in.string(raw)) return false;
  out = raw.text;
  return true;
}

// Decimal microseconds, also in quotes and with " us" behind them, in nanoseconds.
bool micros(JsonCursor& in, std::int64_t& out) {
  if (in.plain_micros(out)) return true;
  std::string_view number;
  bool quoted = false;
  if (!in.number_text(number, quoted)) return false;
  if (number.ends_with(" us")) number.remove_suffix(3);
  std::int64_t nanos = 0;
  if (micros_to_nanos(number, nanos)) out = nanos;
  return true;
}

bool triple(JsonCursor& in, std::int64_t (&out)[3]) {
  if (!in.take('[')) return in.skip_value();
  for (std::size_t i = 0; in.peek() != ']'; ++i) {
    if (i < 3 ? !in.integer(out[i]) : !in.skip_value()) return false;
    if (!in.take(',')) break;
  }
  return in.take(']');
}

// The digits that a thread's text begins with: "5001(C++)" -> 5001.
void leading_number(std::string_view digits, std::int64_t& out) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec == std::errc()) out = number;
}

bool thread_id(JsonCursor& in, PaddleJsonEvent& event) {
  if (in.peek() != '"') return in.integer(event.tid);
  if (!text(in, event.thread_text)) return false;
  leading_number(event.thread_text, event.tid);
  return true;
}

bool argument(JsonCursor& in, std::string_view key, PaddleJsonEvent& event) {
  if (key == "start_time") return micros(in, event.start);
  if (key == "end_time") return micros(in, event.end);
  if (key == "correlation id") return in.integer(event.correlation);
  if (key == "input_shapes") return in.raw_value(event.shapes);
  if (key == "input_dtypes") return in.raw_value(event.types);
  if (key == "callstack") return text(in, event.stack);
  if (key == "device") return in.integer(event.device);
  if (key == "context") return in.integer(event.context);
  if (key == "stream") return in.integer(event.stream);
  if (key == "bytes") return in.integer(event.bytes);
  if (key == "registers per thread") return in.integer(event.registers);
  if (key == "shared memory") return in.integer(event.shared_memory);
  if (key == "blocks per SM") return in.real(event.blocks_per_sm);
  if (key == "warps per SM") return in.real(event.warps_per_sm);
  if (key == "grid") return triple(in, event.grid);
  if (key == "block") return triple(in, event.block);
  if (key == "theoretical achieved occupancy %") return in.real(event.occupancy);
  if (key == "memory bandwidth (GB/s)") return in.real(event.bandwidth);
  if (key == "place") return text(in, event.place);
  if (key == "addr") return in.integer(event.address);
  if (key == "increase_bytes") return in.integer(event.increase);
  if (key == "current_allocated") return in.integer(event.allocated);
  if (key == "current_reserved") return in.integer(event.reserved);
  if (key == "peak_allocated") return in.integer(event.peak_allocated);
  if (key == "peak_reserved") return in.integer(event.peak_reserved);
  if (key == "name") return text(in, event.metadata_name);
  return in.skip_value();
}

bool arguments(JsonCursor& in, PaddleJsonEvent& event) {
  if (!in.take('{')) return in.skip_value();
  if (in.peek() != '}') {
    do {
      if (in.peek() == '}') break;  // a comma too many
      std::string_view key;
      if (!in.key(key) || !argument(in, key, event)) return false;
    } while (in.take(','));
  }
  return in.take('}');
}

bool member(JsonCursor& in, std::string_view key, PaddleJsonEvent& event) {
  if (key == "name") return text(in, event.name);
  if (key == "pid") return in.integer(event.pid);
  if (key == "tid") return thread_id(in, event);
  if (key == "ts") return micros(in, event.stamp);
  if (key == "dur") return micros(in, event.duration);
  if (key == "cat") return text(in, event.category);
  if (key == "args") return arguments(in, event);
  if (key == "ph") {
    std::string_view phase;
    if (!text(in, phase)) return false;
    if (!phase.empty()) event.phase = phase[0];
    return true;
  }
  return in.skip_value();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unicode_escape(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return false;
  for (std::size_t i = 2; i < 6; ++i) {
    if (hex_digit(text[i]) < 0) return false;
  }
  return true;
}

}  // namespace

bool parse_paddle_event(std::string_view text, PaddleJsonEvent& event) {
  event = {};
  JsonCursor in(text);
  if (!in.take('{')) return false;
  if (in.peek() != '}') {
    event.empty = false;
    do {
      if (in.peek() == '}') break;  // a comma too many
      std::string_view key;
      if (!in.key(key) || !member(in, key, event)) return false;
    } while (in.take(','));
  }
  return in.take('}') && in.peek() == '\0';
}

std::string_view paddle_event_name(std::string_view name) {
  if (!name.ends_with(" ms]") && !name.ends_with(" us]")) return name;
  const std::size_t bracket = name.rfind('[');
  if (bracket == std::string_view::npos) return name;
  const std::string_view number = name.substr(bracket + 1, name.size() - bracket - 5);
  const std::string_view word = number.starts_with('-') ? number.substr(1) : number;
  const bool plain = word == "inf" || word == "nan" ||
                     (!word.empty() && word.find_first_not_of("0123456789.") == word.npos);
  return plain ? name.substr(0, bracket) : name;
}

std::string_view paddle_text(std::string_view raw, std::string& scratch) {
  if (raw.find('\\') == std::string_view::npos) return raw;
  scratch.clear();
  while (!raw.empty()) {
    std::size_t length = 1;
    if (raw[0] == '\\' && raw.size() > 1 && (raw[1] == '"' || raw[1] == '\\' || raw[1] == '/')) {
      scratch += raw[1];
      length = 2;
    } else if (raw[0] == '\\' && is_unicode_escape(raw)) {
      // Two of them may be one character: they are resolved together.
      length = 6;
      while (is_unicode_escape(raw.substr(length))) length += 6;
      std::string resolved;
      unescape_json(raw.substr(0, length), resolved);
      scratch += resolved;
    } else {
      scratch += raw[0];
    }
    raw.remove_prefix(length);
  }
  return scratch;
}

}  // namespace sonde
