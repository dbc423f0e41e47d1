#include "import/tensorflow_json/timeline_event.hpp"

#include <simdjson.h>

#include <charconv>

namespace sonde {

struct TimelineParser::Impl {
  simdjson::dom::parser parser;
  std::string padded;
};

TimelineParser::TimelineParser() : impl_(std::make_unique<Impl>()) {}
TimelineParser::~TimelineParser() = default;

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

bool to_number(const element& value, double& out) { return value.get(out) == simdjson::SUCCESS; }

std::int64_t to_whole(const element& value) {
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return whole;
  std::uint64_t unsigned_whole = 0;
  if (value.get(unsigned_whole) == simdjson::SUCCESS)
    return static_cast<std::int64_t>(unsigned_whole);
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS)
    std::from_chars(text.data(), text.data() + text.size(), whole);
  return whole;
}

void read_argument(std::string_view key, const element& value, TimelineEvent& out) {
  TimelineEvent::Argument argument;
  argument.key = key;
  std::string_view text;
  switch (value.type()) {
    case element_type::INT64:
    case element_type::UINT64:
      argument.is_number = argument.is_whole = true;
      argument.whole = to_whole(value);
      argument.number = static_cast<double>(argument.whole);
      break;
    case element_type::DOUBLE:
      argument.is_number = true;
      to_number(value, argument.number);
      break;
    case element_type::STRING:
      if (value.get(text) == simdjson::SUCCESS) argument.text = text;
      break;
    default:
      argument.text = simdjson::minify(value);
  }
  out.arguments.push_back(std::move(argument));
}

}  // namespace

bool TimelineParser::parse(std::string_view text, TimelineEvent& out) {
  // A copy of its own: the parser wants padding behind the text.
  impl_->padded.assign(text);
  impl_->padded.resize(text.size() + simdjson::SIMDJSON_PADDING, ' ');
  simdjson::dom::object object;
  if (impl_->parser.parse(impl_->padded.data(), text.size(), false).get(object) !=
      simdjson::SUCCESS)
    return false;
  out = {};
  for (const simdjson::dom::key_value_pair field : object) {
    std::string_view view;
    if (field.key == "ph") {
      if (field.value.get(view) == simdjson::SUCCESS && !view.empty()) out.phase = view[0];
    } else if (field.key == "name") {
      if (field.value.get(view) == simdjson::SUCCESS) out.name = view;
    } else if (field.key == "cat") {
      if (field.value.get(view) == simdjson::SUCCESS) out.category = view;
    } else if (field.key == "pid") {
      out.pid = to_whole(field.value);
    } else if (field.key == "tid") {
      out.tid = to_whole(field.value);
    } else if (field.key == "id") {
      out.has_id = true;
      out.id = to_whole(field.value);
    } else if (field.key == "ts") {
      out.has_time = to_number(field.value, out.time_us);
      out.time_is_whole = field.value.get(out.whole_time_us) == simdjson::SUCCESS;
    } else if (field.key == "dur") {
      out.has_duration = to_number(field.value, out.duration_us);
    } else if (field.key == "args") {
      simdjson::dom::object args;
      if (field.value.get(args) != simdjson::SUCCESS) continue;
      for (const simdjson::dom::key_value_pair arg : args) read_argument(arg.key, arg.value, out);
    }
  }
  return true;
}

}  // namespace sonde
