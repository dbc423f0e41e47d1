#include "import/trace_event/event_parser.hpp"

#include "import/trace_event/fields.hpp"

namespace sonde {
namespace {

// What a walk over one event tells its layout.
struct Walk {
  std::vector<EventStep>& steps;
  const char* start;
  std::uint32_t args_begin = 0;
  std::uint32_t args_end = 0;
  bool usual = true;  // false: a shape that is not worth to be remembered

  std::uint32_t place(const char* at) const { return static_cast<std::uint32_t>(at - start); }
};

bool read_value(JsonCursor& in, Field field, Event& event, Walk& walk) {
  in.peek();
  const char* const begin = in.position();
  if (!read_field(in, field, event)) return false;
  walk.steps.push_back({field, walk.place(begin), walk.place(in.position())});
  return true;
}

bool read_arguments(JsonCursor& in, Event& event, InputPredictor* predictor, Walk& walk) {
  if (in.peek() != '{') {
    walk.usual = false;  // what stands before it would stand before an object too
    return read_value(in, Field::Ignored, event, walk);
  }
  const char* const begin = in.position();
  if (walk.args_begin != 0) walk.usual = false;
  walk.args_begin = walk.place(begin);
  if (predictor != nullptr && !event.name.text.empty()) {
    event.expected = &predictor->expect(event.name.text);
  }
  in.take('{');
  if (in.peek() != '}') {
    do {
      std::string_view key;
      if (!in.key(key) || !read_value(in, argument_field(key), event, walk)) return false;
    } while (in.take(','));
  }
  if (!in.take('}')) return false;
  walk.args_end = walk.place(in.position());
  event.args_text = {begin, static_cast<std::size_t>(in.position() - begin)};
  return true;
}

bool read_members(JsonCursor& in, Event& event, InputPredictor* predictor, Walk& walk) {
  if (!in.take('{')) return false;
  if (in.peek() != '}') {
    do {
      if (in.peek() == '}') break;  // a comma too many
      std::string_view key;
      if (!in.key(key)) return false;
      const Field field = event_field(key);
      const bool read = field == Field::Arguments ? read_arguments(in, event, predictor, walk)
                                                  : read_value(in, field, event, walk);
      if (!read) return false;
    } while (in.take(','));
  }
  return in.take('}') && in.peek() == '\0';
}

}  // namespace

bool EventParser::parse(std::string_view text, Event& event) {
  event.clear();
  if (layouts_.read(text, event, &predictor_)) return true;
  event.clear();
  steps_.clear();
  Walk walk{steps_, text.data()};
  JsonCursor in(text);
  if (!read_members(in, event, &predictor_, walk)) return false;
  if (walk.usual && text.size() <= UINT16_MAX) {
    layouts_.learn(text, steps_, walk.args_begin, walk.args_end);
  }
  return true;
}

void EventParser::forget() {
  layouts_.clear();
  predictor_.clear();
}

bool parse_event(std::string_view text, Event& event) {
  event.clear();
  std::vector<EventStep> steps;
  Walk walk{steps, text.data()};
  JsonCursor in(text);
  return read_members(in, event, nullptr, walk);
}

}  // namespace sonde
