#include "export/perfetto/perfetto.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "analysis/lanes.hpp"
#include "export/categories.hpp"
#include "export/notes.hpp"
#include "export/perfetto/packets.hpp"
#include "export/perfetto/tracks.hpp"
#include "export/slice_facts.hpp"

namespace sonde {
namespace {

using perfetto::Event;
using perfetto::EventType;

// The numbers of the arrows that leave and reach each slice.
class FlowNumbers {
 public:
  explicit FlowNumbers(const Trace& trace) {
    add(trace.launch_to_device(), perfetto::FlowSort::Launch);
    add(trace.forward_to_backward(), perfetto::FlowSort::Backward);
    add(trace.flows(), perfetto::FlowSort::Plain);
    std::sort(leaving_.begin(), leaving_.end());
    std::sort(reaching_.begin(), reaching_.end());
  }

  void of(SliceId slice, std::vector<std::uint64_t>& leaving,
          std::vector<std::uint64_t>& reaching) const {
    collect(leaving_, slice, leaving);
    collect(reaching_, slice, reaching);
  }

 private:
  using End = std::pair<SliceId, std::uint64_t>;
  void add(const Links& links, perfetto::FlowSort sort) {
    const std::uint64_t base = (perfetto::kFlowMark << 4 | static_cast<std::uint64_t>(sort)) << 32;
    for (std::size_t i = 0; i < links.size(); ++i) {
      leaving_.push_back({links.from(i), base + i});
      reaching_.push_back({links.to(i), base + i});
    }
  }
  static void collect(const std::vector<End>& ends, SliceId slice,
                      std::vector<std::uint64_t>& out) {
    out.clear();
    for (auto at = std::lower_bound(ends.begin(), ends.end(), End{slice, 0});
         at != ends.end() && at->first == slice; ++at)
      out.push_back(at->second);
  }

  std::vector<End> leaving_;
  std::vector<End> reaching_;
};

// "sonde.kernel"
std::string_view word_of_kind(SliceKind kind) {
  static const std::array<std::string, kSliceKindCount> kWords = [] {
    std::array<std::string, kSliceKindCount> words;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = "sonde." + std::string(kSliceKindNames[i]);
    return words;
  }();
  return kWords[static_cast<std::size_t>(kind)];
}

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, BufferedOutput& output)
      : trace_(trace),
        slices_(trace.slices()),
        output_(output),
        packets_(output),
        categories_(trace),
        facts_(trace),
        flows_(trace),
        lanes_(split_into_lanes(trace)) {
    // Times are unsigned: the file's own where they are, else counted from the first of all.
    Nanos first = 0;
    for (const Marker& marker : trace.markers()) first = std::min(first, marker.time);
    const Nanos origin = trace.meta().origin;
    shift_ = origin + first >= 0 ? origin : -first;
  }

  ExportNotes write() {
    packets_.begin_sequence(perfetto::kBootTime);
    const TraceMeta& meta = trace_.meta();
    const Nanos wall = meta.base_time + meta.origin;
    if (meta.wall_clock && wall >= 0)
      packets_.clock_snapshot(static_cast<std::uint64_t>(shift_), static_cast<std::uint64_t>(wall));
    perfetto::TrackTable tracks(trace_, lanes_of_tracks(), used_processes(), packets_);
    for (const Lane& lane : lanes_.lanes) {
      if (output_.failed()) break;
      write_lane(lane, tracks.lane(lane.track, lane.number));
    }
    write_markers(tracks);
    write_allocations(tracks);
    write_counters(tracks);
    write_samples(tracks);
    ExportNotes notes;
    if (lanes_.cut > 0)
      notes.push_back(std::to_string(lanes_.cut) + " slices overlap too many others and are cut");
    note_left_out(notes, "arguments with the key of another", facts_.left_out());
    note_left_out(notes, "functions of a call profile", trace_.call_profile().functions.size());
    note_left_out(notes, "places of allocations", trace_.process_memory().sites.size());
    note_left_out(notes, "snapshots of objects", trace_.process_memory().snapshots.size());
    return notes;
  }

 private:
  Nanos at(Nanos time) const { return time + shift_; }

  std::vector<std::uint32_t> lanes_of_tracks() const {
    std::vector<std::uint32_t> counts(trace_.tracks().size());
    const auto use = [&](TrackId track) {
      std::uint32_t& count = counts[track.index()];
      count = std::max(count, 1u);
    };
    for (const Lane& lane : lanes_.lanes)
      counts[lane.track.index()] = std::max(counts[lane.track.index()], lane.number + 1);
    for (const Marker& marker : trace_.markers()) {
      if (marker.scope != 'g' && marker.scope != 'p') use(marker.track);
    }
    for (const Allocation& allocation : trace_.allocations()) use(allocation.track);
    for (const Sample& sample : trace_.samples()) use(sample.track);
    return counts;
  }

  // Of each track: whether anything lies on its process as a whole.
  std::vector<bool> used_processes() const {
    std::vector<bool> used(trace_.tracks().size());
    for (const Marker& marker : trace_.markers()) {
      if (marker.scope == 'p') used[marker.track.index()] = true;
    }
    for (const CounterValue& value : trace_.counters()) used[value.track.index()] = true;
    return used;
  }

  // What the file called it; where that does not tell the kind, the kind as a second word.
  void set_categories(SliceId slice, Event& event) const {
    const SliceKind kind = slices_.kind(slice);
    const StringId* own = trace_.categories().find(slice);
    event.category = categories_.of(slice);
    if (event.category.empty() && kind == SliceKind::UserRange) event.category = "user_annotation";
    if (own == nullptr) return;
    const std::string_view word = trace_.text(*own);
    const bool general = kind == SliceKind::Other || kind == SliceKind::UserRange;
    const bool user = kind == SliceKind::UserRange && word == "user_annotation";
    const bool told = word == event.category && (!general || user);
    if (word.empty() || told) return;
    event.category = word;
    event.kind_word = word_of_kind(kind);
  }

  void write_lane(const Lane& lane, std::uint64_t track) {
    std::vector<Nanos> open;
    const auto close_until = [&](Nanos time) {
      for (; !open.empty() && open.back() <= time; open.pop_back()) {
        Event end;
        end.type = EventType::End;
        end.track = track;
        end.time = at(open.back());
        packets_.event(end);
      }
    };
    std::vector<std::uint64_t> leaving;
    std::vector<std::uint64_t> reaching;
    for (const LaneSlice& entry : lane.slices) {
      if (output_.failed()) return;
      const SliceId slice = entry.slice;
      close_until(slices_.start(slice));
      flows_.of(slice, leaving, reaching);
      Event begin;
      begin.track = track;
      begin.time = at(slices_.start(slice));
      begin.named = true;
      begin.name = trace_.name(slice);
      set_categories(slice, begin);
      begin.facts = &facts_.of(slice);
      begin.flows = &leaving;
      begin.ended_flows = &reaching;
      packets_.event(begin);
      open.push_back(entry.end);
    }
    if (!open.empty()) close_until(*std::max_element(open.begin(), open.end()));
  }

  void write_markers(perfetto::TrackTable& tracks) {
    const std::vector<Marker>& markers = trace_.markers();
    for (std::size_t i = 0; i < markers.size() && !output_.failed(); ++i) {
      const Marker& marker = markers[i];
      Event event;
      event.type = EventType::Instant;
      event.track = marker.scope == 'g'   ? tracks.global()
                    : marker.scope == 'p' ? tracks.process(marker.track)
                                          : tracks.lane(marker.track, 0);
      event.time = at(marker.time);
      event.named = true;
      event.name = trace_.text(marker.name);
      event.category = trace_.text(marker.category);
      event.facts = &facts_.of(MarkerId(i));
      packets_.event(event);
    }
  }

  void write_allocations(perfetto::TrackTable& tracks) {
    std::map<std::tuple<std::uint64_t, std::int32_t, std::int32_t>, std::uint64_t> totals;
    for (const Allocation& allocation : trace_.allocations()) {
      if (output_.failed()) return;
      Event event;
      event.type = EventType::Instant;
      event.track = tracks.lane(allocation.track, 0);
      event.time = at(allocation.time);
      event.named = true;
      event.name = allocation.out_of_memory ? "[OutOfMemory]" : "[memory]";
      event.category = "memory";
      event.facts = &facts_.of(allocation);
      const std::string stack = callstack(allocation.stack);
      event.callstack = stack;
      packets_.event(event);
      if (allocation.total_allocated == kNoNumber) continue;
      std::uint64_t& counter =
          totals[{tracks.process(allocation.track), allocation.device_type, allocation.device}];
      if (counter == 0) {
        std::string name = allocation.device_type == 0 ? "allocated, CPU" : "allocated, device";
        if (allocation.device >= 0) name += " " + std::to_string(allocation.device);
        counter = tracks.total(allocation.track, name);
      }
      Event value;
      value.type = EventType::Counter;
      value.track = counter;
      value.time = at(allocation.time);
      value.value = static_cast<double>(allocation.total_allocated);
      packets_.event(value);
    }
  }

  // One track for each process, counter and series.
  void write_counters(perfetto::TrackTable& tracks) {
    const std::vector<CounterValue>& counters = trace_.counters();
    std::map<std::tuple<std::uint64_t, StringId, StringId>, std::uint64_t> known;
    for (std::size_t i = 0; i < counters.size() && !output_.failed(); ++i) {
      const CounterValue& value = counters[i];
      std::uint64_t& uuid = known[{tracks.process(value.track), value.counter, value.series}];
      if (uuid == 0) {
        uuid = tracks.counter(value.track, trace_.text(value.counter), trace_.text(value.series));
      }
      Event event;
      event.type = EventType::Counter;
      event.track = uuid;
      event.time = at(value.time);
      event.value = value.value;
      event.facts = &facts_.of(CounterId(i));
      packets_.event(event);
    }
  }

  void write_samples(perfetto::TrackTable& tracks) {
    std::vector<bool> told(trace_.sample_types().size());
    std::vector<Fact> facts;
    const auto add = [&](std::string_view key, Fact::Type type) -> Fact& {
      facts.emplace_back();
      facts.back().key = key;
      facts.back().type = type;
      return facts.back();
    };
    for (const Sample& sample : trace_.samples()) {
      if (output_.failed()) return;
      const std::string stack = callstack(sample.stack);
      Event event;
      event.type = EventType::Instant;
      event.track = tracks.lane(sample.track, 0);
      event.time = at(sample.time);
      event.named = true;
      event.name = "sample";
      event.category = "sample";
      facts.clear();
      // A sample without frames is told by its weight.
      if (sample.weight != 1 || stack.empty()) add("weight", Fact::Type::Real).real = sample.weight;
      if (sample.type < told.size()) {
        const SampleType& type = trace_.sample_types()[sample.type];
        event.name = trace_.text(type.name);
        if (!told[sample.type]) {  // the first of its type tells what counts for all
          const std::string_view unit = trace_.text(type.unit);
          if (!unit.empty()) add("unit", Fact::Type::Text).text = unit;
          if (!type.timed) add("timed", Fact::Type::Integer).integer = 0;
          told[sample.type] = true;
        }
      }
      event.facts = &facts;
      event.callstack = stack;
      packets_.event(event);
    }
  }

  // From the outermost frame in.
  std::string callstack(StackId stack) const {
    std::vector<StackId> way;
    for (; stack.index() < trace_.stacks().size(); stack = trace_.stacks()[stack.index()].caller)
      way.push_back(stack);
    std::string text;
    protozero::pbf_writer message(text);
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
      const StackFrame& frame = trace_.stacks()[at->index()];
      protozero::pbf_writer entry(message, 1);
      const std::string_view function = trace_.text(frame.function);
      const std::string_view file = trace_.text(frame.file);
      entry.add_string(1, function.data(), function.size());
      if (!file.empty()) entry.add_string(2, file.data(), file.size());
      if (frame.line > 0) entry.add_uint32(3, static_cast<std::uint32_t>(frame.line));
    }
    return text;
  }

  const Trace& trace_;
  const SliceColumns& slices_;
  BufferedOutput& output_;
  perfetto::PacketWriter packets_;
  SliceCategories categories_;
  FactSource facts_;
  FlowNumbers flows_;
  Lanes lanes_;
  Nanos shift_ = 0;
};

}  // namespace

Result<ExportNotes> write_perfetto(const ExportInput& input, BufferedOutput& out) {
  return PerfettoWriter(input.trace, out).write();
}

}  // namespace sonde
