#include "export/vprof/memory_part.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/memory_curve.hpp"
#include "export/notes.hpp"

namespace sonde {
namespace {

// The viewer draws each event; vprof's own files have as many.
constexpr std::size_t kMostEvents = 100'000;

struct Event {
  std::int64_t line = 0;
  std::int64_t bytes = 0;
  std::string_view function;
  std::string_view file;
};

double mebibytes(std::int64_t bytes) {
  return std::round(static_cast<double>(bytes) / 1048576.0 * 1e6) / 1e6;
}

// The memory after the last execution of each line.
std::vector<Event> events_of_lines(const Trace& trace) {
  std::vector<Event> out;
  for (const ProcessMemory::Line& line : trace.process_memory().lines) {
    out.push_back({line.line, line.bytes, trace.text(line.function), trace.text(line.file)});
  }
  return out;
}

// The memory over time, each time with the line that a sample saw at work shortly before.
std::vector<Event> events_of_curve(const Trace& trace, const std::string& title) {
  const std::vector<MemoryCurve> curves = memory_curves(trace, title);
  if (curves.empty()) return {};
  struct Seen {
    Nanos time;
    StackId stack;
  };
  std::vector<Seen> seen;
  for (const Sample& sample : trace.samples()) {
    const bool timed =
        sample.type >= trace.sample_types().size() || trace.sample_types()[sample.type].timed;
    if (timed && sample.stack.valid()) seen.push_back({sample.time, sample.stack});
  }
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Seen& a, const Seen& b) { return a.time < b.time; });
  std::vector<Event> out;
  for (const MemoryCurve::Point& point : thin_out(curves.front().points, kMostEvents)) {
    Event event;
    event.bytes = point.bytes;
    const auto after =
        std::upper_bound(seen.begin(), seen.end(), point.time,
                         [](Nanos time, const Seen& one) { return time < one.time; });
    if (after != seen.begin()) {
      const StackFrame& frame = trace.stacks()[std::prev(after)->stack.value];
      event.line = frame.line;
      event.function = trace.text(frame.function);
      event.file = trace.text(frame.file);
    }
    out.push_back(event);
  }
  return out;
}

// New objects by type: between the first snapshot and the last, or all of the only one.
std::vector<std::pair<std::string, std::int64_t>> new_objects(const Trace& trace) {
  const std::vector<ProcessMemory::Snapshot>& snapshots = trace.process_memory().snapshots;
  std::map<std::string_view, std::int64_t> counts;
  if (!snapshots.empty()) {
    for (const auto& type : snapshots.back().types) counts[trace.text(type.name)] += type.count;
  }
  if (snapshots.size() > 1) {
    for (const auto& type : snapshots.front().types) counts[trace.text(type.name)] -= type.count;
  }
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const auto& [name, count] : counts) {
    if (count > 0) out.emplace_back("class " + std::string(name), count);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace

bool write_vprof_memory(const ExportInput& input, const std::string& object_name, JsonWriter& json,
                        ExportNotes& notes) {
  const Trace& trace = input.trace;
  std::vector<Event> events = events_of_lines(trace);
  const bool by_line = !events.empty();
  if (!by_line) events = events_of_curve(trace, input.title);
  const auto objects = new_objects(trace);
  if (events.empty() && objects.empty()) return false;
  if (by_line) notes.emplace_back("memory of a line is that after its last execution");
  if (events.size() > kMostEvents) {
    note_left_out(notes, "lines with memory", events.size() - kMostEvents);
    events.resize(kMostEvents);
  }
  json.key("m");
  json.begin_object();
  json.member("objectName", object_name);
  json.member("totalEvents", events.size());
  json.key("codeEvents");
  json.begin_array();
  for (std::size_t i = 0; i < events.size(); ++i) {
    json.begin_array();
    json.value(i + 1);
    json.value(events[i].line);
    json.value(mebibytes(events[i].bytes));
    json.value(events[i].function);
    json.value(events[i].file);
    json.end_array();
  }
  json.end_array();
  json.key("objectsCount");
  json.begin_array();
  for (const auto& [name, count] : objects) {
    json.begin_array();
    json.value(name);
    json.value(count);
    json.end_array();
  }
  json.end_array();
  json.member("result", nullptr);
  json.member("timestamp", 0);
  json.end_object();
  return true;
}

}  // namespace sonde
