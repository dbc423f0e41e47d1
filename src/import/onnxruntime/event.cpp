#include "import/onnxruntime/event.hpp"

namespace sonde::onnxruntime {
namespace {

// Calls visit(key, cursor) for each member of the object that stands next; visit takes the value.
template <class Visit>
bool members(JsonCursor& in, Visit visit) {
  if (!in.take('{')) return false;
  if (in.take('}')) return true;
  do {
    std::string_view key;
    if (!in.key(key) || !visit(key, in)) return false;
  } while (in.take(','));
  return in.take('}');
}

}  // namespace

bool parse_event(std::string_view text, Event& out) {
  out.category = out.name = {};
  out.pid = out.tid = 0;
  out.time = out.duration = {};
  out.arguments.clear();
  JsonCursor in(text);
  bool quoted = false;
  const bool good = members(in, [&](std::string_view key, JsonCursor& at) {
    if (key == "cat") return at.string(out.category);
    if (key == "name") return at.string(out.name);
    if (key == "pid") return at.integer(out.pid);
    if (key == "tid") return at.integer(out.tid);
    if (key == "ts") return at.number_text(out.time, quoted);
    if (key == "dur") return at.number_text(out.duration, quoted);
    if (key != "args") return at.skip_value();
    return members(at, [&](std::string_view name, JsonCursor& value) {
      EventArgument argument;
      argument.key = name;
      argument.quoted = value.peek() == '"';
      bool taken = false;
      if (argument.quoted) {
        RawString raw;
        taken = value.string(raw);
        argument.value = raw.text;
        argument.has_escapes = raw.has_escapes;
      } else {
        taken = value.raw_value(argument.value);
      }
      if (taken) out.arguments.push_back(argument);
      return taken;
    });
  });
  in.skip_space();
  return good && in.at_end();
}

bool split_type_shapes(std::string_view json, std::string& shapes, std::string& types) {
  JsonCursor in(json);
  shapes = types = "[";
  if (!in.take('[')) return false;
  if (!in.take(']')) {
    do {
      bool first = true;
      const bool good = members(in, [&](std::string_view type, JsonCursor& at) {
        std::string_view shape;
        if (!first || !at.raw_value(shape) || !shape.starts_with('[')) return false;
        first = false;
        if (shapes.size() > 1) {
          shapes += ',';
          types += ',';
        }
        shapes += shape;
        (types += '"') += type;
        types += '"';
        return true;
      });
      if (!good || first) return false;
    } while (in.take(','));
    if (!in.take(']')) return false;
  }
  shapes += ']';
  types += ']';
  in.skip_space();
  return in.at_end();
}

bool read_scheduling_stats(std::string_view json, SchedulingStats& out) {
  out = {};
  JsonCursor in(json);
  return members(in, [&](std::string_view part, JsonCursor& at) {
    if (part == "main_thread") {
      return members(at, [&](std::string_view key, JsonCursor& value) {
        const char c = value.peek();
        if (c == '"' || c == '[' || c == '{') return value.skip_value();  // names of threads
        std::int64_t number = 0;
        if (!value.integer(number)) return false;
        out.main_thread.emplace_back(key, number);
        return true;
      });
    }
    if (part != "sub_threads") return at.skip_value();
    return members(at, [&](std::string_view, JsonCursor& thread) {
      ++out.sub_threads;
      return members(thread, [&](std::string_view key, JsonCursor& value) {
        std::int64_t number = 0;
        if (!value.integer(number)) return false;
        if (key == "num_run" && number > 0 && number < INT32_MAX) out.sub_thread_runs += number;
        return true;
      });
    });
  });
}

}  // namespace sonde::onnxruntime
