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
    std::size_t key;  // in kShifted
  };
  std::string text;
  std::vector<Number> numbers;
};

Template make_template(std::string_view event) {
  Template made{std::string(event), {}};
  for (std::size_t i = event.find('"'); i != std::string_view::npos; i = event.find('"', i + 1)) {
    for (std::size_t k = 0; k < kShifted.size(); ++k) {
      const std::string_view key = kShifted[k].key;
      if (event.substr(i, key.size()) != key) continue;
      const std::size_t begin = i + key.size();
      std::int64_t value = 0;
      const auto parsed = std::from_chars(event.data() + begin, event.data() + event.size(), value);
      if (parsed.ec != std::errc()) continue;
      made.numbers.push_back(
          {begin, static_cast<std::size_t>(parsed.ptr - event.data()), value, k});
    }
  }
  return made;
}

}  // namespace

Result<std::uint64_t> enlarge_trace(const std::string& in, const std::string& out,
                                    std::uint64_t bytes) {
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

  // Ids go on counting where the round before ended; times go on a second later.
  std::array<std::int64_t, kShifted.size()> least;
  std::array<std::int64_t, kShifted.size()> most;
  least.fill(INT64_MAX);
  most.fill(INT64_MIN);
  for (const Template& event : events) {
    for (const Template::Number& number : event.numbers) {
      least[number.key] = std::min(least[number.key], number.value);
      most[number.key] = std::max(most[number.key], number.value);
    }
  }
  std::array<std::int64_t, kShifted.size()> shift{};
  for (std::size_t k = 0; k < kShifted.size(); ++k) {
    if (most[k] >= least[k]) shift[k] = most[k] - least[k] + (kShifted[k].is_time ? 1'000'000 : 1);
  }

  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(out.c_str(), "wb6"));
  if (!file) return Error{ErrorCode::IoError, "cannot write", out, {}, {}};
  std::uint64_t written = 0;
  std::string buffer = "{\"schemaVersion\": 1,";
  for (const auto& [key, value] : splitter.metadata()) {
    if (key != "schemaVersion" && key != "traceName")
      buffer += "\n  \"" + key + "\": " + value + ",";
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
        buffer += std::to_string(number.value + round * shift[number.key]);
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
