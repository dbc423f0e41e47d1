#include "export/stacks/speedscope.hpp"

#include <algorithm>
#include <set>

#include "analysis/call_tree.hpp"
#include "analysis/lanes.hpp"
#include "export/notes.hpp"
#include "export/stacks/frame_text.hpp"
#include "export/text_forms.hpp"
#include "sonde_version.hpp"

namespace sonde {
namespace {

std::string_view speedscope_unit(const std::string& unit) {
  if (unit == "ns" || unit == "nanoseconds") return "nanoseconds";
  if (unit == "us" || unit == "microseconds") return "microseconds";
  if (unit == "ms" || unit == "milliseconds") return "milliseconds";
  if (unit == "s" || unit == "seconds") return "seconds";
  if (unit == "bytes") return "bytes";
  return "none";
}

// Frames are numbered by an empty tree that serves for all profiles; they go out at the end, since
// only then all are known.
class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const ExportInput& input, BufferedOutput& output)
      : trace_(input.trace),
        input_(input),
        output_(output),
        out_(output.buffer()),
        file_(trace_.strings().find("file")),
        line_(trace_.strings().find("line")) {}

  void begin() {
    out_ += "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n\"name\": ";
    append_json_text(out_, input_.title);
    out_ += ",\n\"exporter\": \"sonde@";
    out_ += kVersion;
    out_ += "\",\n\"profiles\": [";
  }

  void end() {
    out_ += "\n],\n\"shared\": {\"frames\": [";
    bool first = true;
    for (const CallFrame& frame : frames_.frames()) {
      out_ += first ? "\n{\"name\": " : ",\n{\"name\": ";
      first = false;
      append_json_text(out_, frame.name.empty() ? "(unnamed)" : frame.name);
      if (!frame.file.empty()) {
        out_ += ", \"file\": ";
        append_json_text(out_, frame.file);
      }
      if (frame.line > 0) {
        out_ += ", \"line\": ";
        append_integer(out_, frame.line);
      }
      out_ += '}';
      output_.settle();
    }
    out_ += "\n]}}\n";
  }

  void write_lane(const Lane& lane) {
    const SliceColumns& slices = trace_.slices();
    Nanos first = lane.slices.empty() ? 0 : slices.start(lane.slices.front().slice);
    Nanos last = first;
    for (const LaneSlice& slice : lane.slices) last = std::max(last, slice.end);
    std::string name = track_label(trace_, lane.track);
    if (lane.number > 0) name += " (overlap " + std::to_string(lane.number) + ")";
    begin_profile("evented", name, "nanoseconds", static_cast<double>(first),
                  static_cast<double>(last));
    out_ += ", \"events\": [";
    bool comma = false;
    const auto event = [&](char type, std::uint32_t frame, Nanos at) {
      out_ += comma ? ",\n{\"type\": \"" : "\n{\"type\": \"";
      comma = true;
      out_ += type;
      out_ += "\", \"frame\": ";
      append_unsigned(out_, frame);
      out_ += ", \"at\": ";
      append_integer(out_, at);
      out_ += '}';
      output_.settle();
    };
    struct Open {
      std::uint32_t frame;
      Nanos end;
    };
    std::vector<Open> open;
    const auto close_until = [&](Nanos time) {
      for (; !open.empty() && open.back().end <= time; open.pop_back())
        event('C', open.back().frame, open.back().end);
    };
    for (const LaneSlice& slice : lane.slices) {
      if (output_.failed()) return;
      const Nanos start = slices.start(slice.slice);
      close_until(start);
      const std::uint32_t frame = frame_of(slice.slice);
      event('O', frame, start);
      open.push_back({frame, slice.end});
    }
    close_until(last);
    out_ += "]}";
  }

  // Of all slices; a file and its line belong to the frame.
  std::uint64_t left_out_arguments() const {
    std::uint64_t count = 0;
    if (trace_.arguments().empty() && trace_.shared_arguments().empty()) return count;
    for (const SliceId slice : all_slices(trace_)) {
      for_each_argument(trace_, slice, [&](const auto& argument) {
        count += argument.key() != file_ && argument.key() != line_ ? 1 : 0;
      });
    }
    return count;
  }

  // The samples of one track and one type, in the order of their times.
  void write_samples(TrackId track, const std::vector<std::size_t>& samples,
                     const CallValueType& counts) {
    double sum = 0;
    for (const std::size_t i : samples) sum += trace_.samples()[i].weight;
    std::string name = track_label(trace_, track);
    if (trace_.sample_types().size() > 1) name += ", " + counts.name;
    begin_profile("sampled", name, speedscope_unit(counts.unit), 0, sum);
    out_ += ", \"samples\": [";
    std::vector<std::uint32_t> frames;
    for (std::size_t n = 0; n < samples.size() && !output_.failed(); ++n) {
      frames.clear();
      for (StackId at = trace_.samples()[samples[n]].stack; at.index() < trace_.stacks().size();
           at = trace_.stacks()[at.index()].caller) {
        const StackFrame& frame = trace_.stacks()[at.index()];
        frames.push_back(
            frames_.frame(trace_.text(frame.function), trace_.text(frame.file), frame.line));
      }
      std::reverse(frames.begin(), frames.end());
      append_stack(frames, n == 0);
    }
    out_ += "], \"weights\": [";
    for (std::size_t n = 0; n < samples.size(); ++n) {
      if (n) out_ += ',';
      append_real(out_, trace_.samples()[samples[n]].weight);
      output_.settle();
    }
    out_ += "]}";
  }

  // Every stack once, where nothing tells an order.
  void write_tree(const CallTree& tree) {
    const CallValueType& type = tree.types()[tree.main_type];
    double sum = 0;
    for (std::uint32_t i = 1; i < tree.nodes().size(); ++i)
      sum += std::max(0.0, tree.self(i, tree.main_type));
    begin_profile("sampled", tree.title.empty() ? type.name : tree.title,
                  speedscope_unit(type.unit), 0, sum);
    out_ += ", \"samples\": [";
    std::string weights;
    std::vector<std::uint32_t> frames;
    for (std::uint32_t i = 1; i < tree.nodes().size() && !output_.failed(); ++i) {
      const double self = tree.self(i, tree.main_type);
      if (self <= 0) continue;
      frames.clear();
      for (std::uint32_t at = i; at != 0; at = tree.nodes()[at].parent) {
        const CallFrame& frame = tree.frame_of(at);
        // The tree goes, its own texts with it.
        frames.push_back(frames_.frame(keep(frame.name), keep(frame.file), frame.line));
      }
      std::reverse(frames.begin(), frames.end());
      append_stack(frames, weights.empty());
      if (!weights.empty()) weights += ',';
      append_real(weights, self);
    }
    out_ += "], \"weights\": [" + weights + "]}";
  }

 private:
  std::uint32_t frame_of(SliceId slice) {
    std::string_view file;
    std::int64_t line = 0;
    if (const ArgumentValue value = find_argument(trace_, slice, file_);
        value && value.type() == ArgType::Text) {
      file = trace_.text(value.text());
      line = find_argument(trace_, slice, line_).integer(trace_, 0);
    }
    if (line < 0 || line > INT32_MAX) line = 0;
    return frames_.frame(trace_.name(slice), file, static_cast<std::int32_t>(line));
  }

  std::string_view keep(std::string_view text) { return *texts_.emplace(text).first; }

  void append_stack(const std::vector<std::uint32_t>& frames, bool first) {
    out_ += first ? "\n[" : ",\n[";
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (i) out_ += ',';
      append_unsigned(out_, frames[i]);
    }
    out_ += ']';
    output_.settle();
  }

  void begin_profile(std::string_view type, std::string_view name, std::string_view unit,
                     double start, double end) {
    out_ += first_profile_ ? "\n{\"type\": \"" : ",\n{\"type\": \"";
    first_profile_ = false;
    out_ += type;
    out_ += "\", \"name\": ";
    append_json_text(out_, name);
    out_ += ", \"unit\": \"";
    out_ += unit;
    out_ += "\", \"startValue\": ";
    append_real(out_, start);
    out_ += ", \"endValue\": ";
    append_real(out_, end);
  }

  const Trace& trace_;
  const ExportInput& input_;
  BufferedOutput& output_;
  std::string& out_;
  CallTree frames_{std::vector<CallValueType>{{"", ""}}};
  std::set<std::string, std::less<>> texts_;
  StringId file_;  // keys of arguments
  StringId line_;
  bool first_profile_ = true;
};

bool write_all_samples(const Trace& trace, SpeedscopeWriter& writer) {
  if (trace.samples().empty()) return false;
  std::vector<CallValueType> types;
  for (const SampleType& type : trace.sample_types())
    types.push_back({std::string(trace.text(type.name)), std::string(trace.text(type.unit))});
  if (types.empty()) types.push_back({"samples", "count"});
  std::vector<std::vector<std::size_t>> groups(types.size() * trace.tracks().size());
  for (std::size_t i = 0; i < trace.samples().size(); ++i) {
    const Sample& sample = trace.samples()[i];
    const std::size_t type = std::min<std::size_t>(sample.type, types.size() - 1);
    groups[sample.track.index() * types.size() + type].push_back(i);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].empty()) continue;
    std::stable_sort(groups[g].begin(), groups[g].end(), [&](std::size_t a, std::size_t b) {
      return trace.samples()[a].time < trace.samples()[b].time;
    });
    const std::size_t type = g % types.size();
    writer.write_samples(TrackId(g / types.size()), groups[g], types[type]);
  }
  return true;
}

}  // namespace

Result<ExportNotes> write_speedscope(const ExportInput& input, BufferedOutput& out) {
  const Trace& trace = input.trace;
  ExportNotes notes;
  SpeedscopeWriter writer(input, out);
  const bool time_line =
      (input.weight.empty() || input.weight == "time") && trace.slice_count() > 0;
  if (time_line || (input.weight.empty() && !trace.samples().empty())) {
    writer.begin();
    if (input.weight.empty()) write_all_samples(trace, writer);
    if (time_line) {
      const Lanes lanes = split_into_lanes(trace);
      for (const Lane& lane : lanes.lanes) {
        if (!out.failed() && !lane.slices.empty()) writer.write_lane(lane);
      }
      if (lanes.cut > 0)
        notes.push_back(std::to_string(lanes.cut) + " slices overlap too many others and are cut");
    }
    writer.end();
  } else {
    Result<std::vector<CallTree>> trees = build_call_trees(trace, {input.weight, true});
    if (!trees) return trees.error();
    writer.begin();
    for (const CallTree& tree : *trees) {
      if (tree.nodes().size() > 1) writer.write_tree(tree);
    }
    writer.end();
    if (trees->front().estimated)
      notes.push_back("the profile knows callers, not stacks: deeper frames are an estimate");
  }
  note_left_out(notes, "arguments of slices", writer.left_out_arguments());
  note_left_out(notes, "counter values", trace.counters().size());
  note_left_out(notes, "markers", trace.markers().size());
  if (time_line) note_left_out(notes, "allocations", trace.allocations().size());
  note_left_out(
      notes, "arrows",
      trace.flows().size() + trace.launch_to_device().size() + trace.forward_to_backward().size());
  return notes;
}

}  // namespace sonde
