#include "server/events_appender.hpp"

namespace sonde {
namespace {

constexpr std::string_view kEventsKey = "traceEvents";
constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

bool EventsAppender::step(char c) {
  switch (c) {
    case '{':
      if (depth_ == 0) object_outside_ = true;
      ++depth_;
      break;
    case '[':
      ++depth_;
      if (place_ == Place::Before &&
          (depth_ == 1 || (depth_ == 2 && object_outside_ && key_ == kEventsKey))) {
        place_ = Place::Inside;
        array_depth_ = depth_;
      }
      break;
    case '}':
    case ']': {
      const bool closes = place_ == Place::Inside && c == ']' && depth_ == array_depth_;
      if (depth_ > 0) --depth_;
      return closes;
    }
    case ':':
      if (depth_ == 1 && object_outside_) key_ = text_;
      break;
    default:
      break;
  }
  return false;
}

bool EventsAppender::write_events() {
  const bool needs_comma = last_ != '[' && last_ != ',';
  place_ = Place::After;
  if (events_.empty()) return true;
  return (!needs_comma || sink_(", ")) && sink_(events_);
}

bool EventsAppender::feed(std::string_view chunk) {
  std::size_t sent = 0;
  for (std::size_t i = 0; i < chunk.size() && place_ != Place::After; ++i) {
    const char c = chunk[i];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        last_ = c;
        continue;
      }
      if (depth_ == 1 && text_.size() <= kEventsKey.size()) text_ += c;
      continue;
    }
    if (c == '"') {
      in_string_ = true;
      text_.clear();
      continue;
    }
    if (kBlanks.find(c) != std::string_view::npos) continue;
    if (step(c)) {
      if (!sink_(chunk.substr(sent, i - sent)) || !write_events()) return false;
      sent = i;
    }
    last_ = c;
  }
  return sent == chunk.size() || sink_(chunk.substr(sent));
}

bool EventsAppender::finish() {
  if (place_ != Place::Inside || in_string_ || depth_ != array_depth_) return true;
  return write_events() && sink_(object_outside_ ? "]}" : "]");
}

}  // namespace sonde
