#include "export/chrome/samples.hpp"

namespace sonde {
namespace {

constexpr std::string_view kListTrack = "samples of thread ";

bool in_list(const Trace& trace, const Sample& sample) {
  return sample.weight != 1 || trace.text(trace.track(sample.track).name).starts_with(kListTrack);
}

// One look of Sonde's sampler has a sample for each cost: the format has no room for several.
bool is_another_cost(const Trace& trace, const Sample& sample) {
  return sample.type != 0 && trace.meta().format == "sonde";
}

void write_stack_frames(EventWriter& events) {
  const Trace& trace = events.trace();
  if (trace.samples().empty() || trace.stacks().empty()) return;
  std::string& out = events.out();
  out += ",\n\"stackFrames\": {";
  for (std::size_t i = 0; i < trace.stacks().size(); ++i) {
    const StackFrame& frame = trace.stacks()[i];
    out += i == 0 ? "\n\"" : ",\n\"";
    append_unsigned(out, i);
    out += "\": {\"name\": ";
    append_json_text(out, trace.text(frame.function));
    out += ", \"category\": ";
    append_json_text(out, trace.text(frame.file));
    if (frame.line != 0) {
      out += ", \"line\": ";
      append_integer(out, frame.line);
    }
    if (frame.caller.valid()) events.text("parent", std::to_string(frame.caller.value));
    events.end();
  }
  out += "\n}";
}

void write_sample_list(EventWriter& events) {
  const Trace& trace = events.trace();
  std::string& out = events.out();
  bool any = false;
  for (const Sample& sample : trace.samples()) {
    if (!in_list(trace, sample) || is_another_cost(trace, sample)) continue;
    out += any ? ",\n{\"tid\": " : ",\n\"samples\": [\n{\"tid\": ";
    any = true;
    const std::string_view name = trace.text(trace.track(sample.track).name);
    if (name.starts_with(kListTrack))
      append_json_text(out, name.substr(kListTrack.size()));
    else
      append_event_id(out, events.ids()[sample.track.index()].tid);
    events.time(sample.time);
    if (sample.stack.valid()) events.text("sf", std::to_string(sample.stack.value));
    out += ", \"weight\": ";
    append_real(out, sample.weight);
    events.end();
  }
  if (any) out += "\n]";
}

}  // namespace

void write_sample_events(EventWriter& events) {
  const Trace& trace = events.trace();
  for (const Sample& sample : trace.samples()) {
    if (in_list(trace, sample) || is_another_cost(trace, sample)) continue;
    if (events.failed()) return;
    events.begin('P', sample.track);
    const bool known = sample.stack.index() < trace.stacks().size();
    events.text("name", known ? trace.text(trace.stacks()[sample.stack.index()].function) : "");
    events.time(sample.time);
    if (known) events.text("sf", std::to_string(sample.stack.value));
    events.end();
  }
}

void write_sample_tables(EventWriter& events) {
  write_stack_frames(events);
  write_sample_list(events);
}

}  // namespace sonde
