#include "support/enlarge.hpp"

#include <zlib.h>

#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "import/input/byte_source.hpp"
#include "import/json/event_splitter.hpp"
#include "import/loader.hpp"

namespace sonde::bench {
namespace {

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

// What to add to the numbers behind these keys in each round.
struct ShiftedKey {
  std::string_view key;
  bool is_time;
};
constexpr std::array kShifted = {
    ShiftedKey{"\"ts\": ", true},           ShiftedKey{"\"External id\": ", false},
    ShiftedKey{"\"correlation\": ", false}, ShiftedKey{"\"id\": ", false},
    ShiftedKey{"\"Ev Idx\": ", false},      ShiftedKey{"\"Sequence number\": ", false},
};

// One event's text with the places of its shifted numbers.
struct Template {
  struct Number {
    std::size_t begin;
    std::size_t end;  // of the whole part
    std::int64_t value;
    bool is_time;
  };
  std::string text;
  std::vector<Number> numbers;
};

Template make_template(std::string_view event) {
  Template made{std::string(event), {}};
  for (std::size_t i = event.find('"'); i != std::string_view::npos; i = event.find('"', i + 1)) {
    for (const ShiftedKey& shifted : kShifted) {
      if (event.substr(i, shifted.key.size()) != shifted.key) continue;
      const std::size_t begin = i + shifted.key.size();
      std::int64_t value = 0;
      const auto parsed = std::from_chars(event.data() + begin, event.data() + event.size(), value);
      if (parsed.ec != std::errc()) continue;
      made.numbers.push_back({begin, static_cast<std::size_t>(parsed.ptr - event.data()), value, shifted.is_time});
    }
  }
  return made;
}

}  // namespace

Result<std::uint64_t> enlarge_trace(const std::string& in, const std::string& out, std::uint64_t bytes) {
  Result<OpenedInput> input = open_input(in);
  if (!input) return input.error();
  EventSplitter splitter(*input->source);
  std::vector<Template> events;
  EventBlock block;
  for (;;) {
    Result<bool> more = splitter.next(block);
    if (!more) return more.error();
    if (!*more) break;
    for (const EventSpan& span : block.events) events.push_back(make_template(block.event(span)));
  }

  std::int64_t span_micros = 1'000'000;
  std::int64_t ids = 1;
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const Template& event : events) {
    for (const Template::Number& number : event.numbers) {
      if (number.is_time) {
        first = std::min(first, number.value);
        last = std::max(last, number.value);
      } else {
        ids = std::max(ids, number.value + 1);
      }
    }
  }
  if (last > first) span_micros = last - first + 1'000'000;

  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(out.c_str(), "wb6"));
  if (!file) return Error{ErrorCode::IoError, "cannot write", out, {}, {}};
  std::uint64_t written = 0;
  std::string buffer = "{\"schemaVersion\": 1,";
  for (const auto& [key, value] : splitter.metadata()) {
    if (key != "schemaVersion" && key != "traceName") buffer += "\n  \"" + key + "\": " + value + ",";
  }
  buffer += "\n  \"traceEvents\": [";
  const auto flush = [&] {
    written += buffer.size();
    gzwrite(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    buffer.clear();
  };
  for (std::int64_t round = 0; written < bytes; ++round) {
    for (const Template& event : events) {
      if (&event != &events.front() || round > 0) buffer += ",\n  ";
      std::size_t done = 0;
      for (const Template::Number& number : event.numbers) {
        buffer.append(event.text, done, number.begin - done);
        buffer += std::to_string(number.value + round * (number.is_time ? span_micros : ids));
        done = number.end;
      }
      buffer.append(event.text, done);
      if (buffer.size() > 1 << 20) flush();
    }
    flush();
  }
  buffer += "\n  ]\n}\n";
  flush();
  return written;
}

}  // namespace sonde::bench
