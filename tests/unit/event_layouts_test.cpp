// What the parser learns from events must never change what it reads: an event that fits a layout
// is read exactly as the plain parser reads it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "import/input/byte_source.hpp"
#include "import/json/event_splitter.hpp"
#include "import/trace_event/event_parser.hpp"
#include "tests/support/files.hpp"

namespace sonde {
namespace {

std::string show(const RawString& s) { return fmt::format("{}|{}", s.text, s.has_escapes); }

std::string show(const ScalarText& s) {
  return fmt::format("{}:{}:{}", static_cast<int>(s.type), s.number,
                     s.type == ScalarText::Type::Text ? s.text.text : "");
}

// Every field that a reader looks at.
std::string show(const Event& e) {
  const RareArgs& r = e.rare;
  std::string out = fmt::format(
      "{} {} {} {} {} {} cat={} name={} pid={} tid={} id={} args={} sf={} odd={} unknown={}",
      static_cast<int>(e.phase), e.scope, static_cast<int>(e.time_state),
      static_cast<int>(e.duration_state), e.time, e.duration, show(e.category), show(e.name),
      show(e.pid), show(e.tid), show(e.id), e.args_text, e.stack_frame.text, e.odd_id,
      e.has_unknown_arguments);
  out += fmt::format(" {} {} {} {} {} {} {} {} {} {}", e.args.external_id, e.args.correlation,
                     e.args.cbid, e.args.sequence, e.args.forward_thread, e.args.order,
                     e.args.shapes, e.args.types, e.args.strides, e.args.concrete);
  out += fmt::format(" {} {} {} {} {} {} {} {} {} {}", r.used, r.device, r.stream, r.context,
                     r.bytes, r.registers, r.shared_memory, r.grid[0], r.grid[2], r.block[1]);
  out += fmt::format(" {} {} {} {} {} {} {} {}", r.blocks_per_sm, r.warps_per_sm, r.occupancy,
                     r.python_id, r.python_parent, r.address, r.total_allocated, r.group_size);
  return out + show(r.stack) + show(r.collective) + show(r.group);
}

std::string plainly(std::string_view text) {
  Event event;
  return parse_event(text, event) ? show(event) : "refused";
}

std::string learned(EventParser& parser, std::string_view text) {
  static Event event;
  return parser.parse(text, event) ? show(event) : "refused";
}

TEST(EventLayouts, ReadEveryEventOfARealTraceAsTheParserDoes) {
  const std::string json =
      test::gunzip(test::read_bytes(std::string(SONDE_TEST_DATA) + "/ddp_rank0.pt.trace.json.gz"));
  Result<OpenedInput> input = open_raw(make_memory_reader(json));
  ASSERT_TRUE(input.ok());
  EventSplitter splitter(*input->source);
  EventParser parser;
  EventBlock block;
  std::size_t events = 0;
  for (;;) {
    Result<bool> more = splitter.next(block);
    ASSERT_TRUE(more.ok());
    if (!*more) break;
    for (const EventSpan& span : block.events) {
      const std::string_view text = block.event(span);
      ASSERT_EQ(learned(parser, text), plainly(text)) << text;
      ++events;
    }
  }
  EXPECT_GT(events, 1000u);
}

// Events from a few templates, with values of every kind in every place.
class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) templates_.push_back(make_template());
  }

  std::string next() {
    std::string out;
    for (const std::string& part : templates_[pick(templates_.size())]) {
      out += part.empty() ? value() : part;
    }
    if (pick(20) == 0 && !out.empty()) out[pick(out.size())] = "{}[],:\" x0\\"[pick(11)];
    return out;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  // Fixed texts; an empty one stands for a value.
  std::vector<std::string> make_template() {
    static const char* const kKeys[] = {"ph",  "cat", "name", "pid", "tid", "ts",
                                        "dur", "id",  "s",    "sf",  "id2", "other"};
    std::vector<std::string> parts;
    std::string text = "{";
    const std::size_t members = 1 + pick(9);
    for (std::size_t i = 0; i < members; ++i) {
      text +=
          fmt::format("{}{}\"{}\"{}:{}", i ? "," : "", space(), kKeys[pick(12)], space(), space());
      if (pick(4) == 0) {  // phase and category are the same in all events of a template
        text += "\"X\"";
        continue;
      }
      parts.push_back(text);
      parts.emplace_back();
      text.clear();
    }
    if (pick(3) != 0) text += arguments(parts, text);
    parts.push_back(text + space() + "}");
    return parts;
  }

  std::string arguments(std::vector<std::string>& parts, std::string& text) {
    static const char* const kKeys[] = {
        "External id", "correlation",   "Input Dims", "Input type", "grid",           "device",
        "stream",      "blocks per SM", "Call stack", "mine",       "Collective name"};
    text += fmt::format(",{}\"args\":{}{{", space(), space());
    const std::size_t members = pick(6);
    for (std::size_t i = 0; i < members; ++i) {
      text += fmt::format("{}{}\"{}\":{}", i ? "," : "", space(), kKeys[pick(11)], space());
      parts.push_back(text);
      parts.emplace_back();
      text.clear();
    }
    return space() + "}";
  }

  std::string value() {
    static const char* const kValues[] = {"1",
                                          "-7",
                                          "12345678901234567890",
                                          "3846914559991.689",
                                          "23.171",
                                          "0.121212",
                                          "1e5",
                                          "null",
                                          "true",
                                          "\"X\"",
                                          "\"\"",
                                          "\"a\\\"b\"",
                                          "[1,2,3]",
                                          "[[64, 64], []]",
                                          "[\"float\", \"\"]",
                                          "{\"a\": {\"b\": [1]}}",
                                          "N/A",
                                          "\"stream 7\"",
                                          "1234567890123456",
                                          "12345678",
                                          "00000012",
                                          "12345678.5",
                                          "\"aten::mm\""};
    return kValues[pick(std::size(kValues))];
  }

  std::string space() { return pick(3) == 0 ? "\n    " : pick(2) == 0 ? " " : ""; }

  std::mt19937 random_;
  std::vector<std::vector<std::string>> templates_;
};

TEST(EventLayouts, ReadRandomEventsAsTheParserDoes) {
  std::size_t good = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomEvents events(seed);
    EventParser parser;
    for (int i = 0; i < 400; ++i) {
      const std::string text = events.next();
      const std::string expected = plainly(text);
      ASSERT_EQ(learned(parser, text), expected) << "seed " << seed << ": " << text;
      if (expected != "refused") ++good;
    }
  }
  EXPECT_GT(good, 10'000u);
}

TEST(EventLayouts, StayBoundedWhenNoTwoEventsAreAlike) {
  EventParser parser;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text =
        fmt::format(R"({{"ph":"X","name":"n","k{}":{},"ts":{},"dur":1,"pid":1,"tid":1}})", i, i, i);
    ASSERT_EQ(learned(parser, text), plainly(text));
  }
}

}  // namespace
}  // namespace sonde
