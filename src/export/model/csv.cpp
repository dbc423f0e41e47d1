#include "export/model/csv.hpp"

#include <fmt/format.h>

#include "analysis/call_tree.hpp"
#include "export/notes.hpp"
#include "export/slice_facts.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

class CsvWriter {
 public:
  CsvWriter(const Trace& trace, BufferedOutput& output)
      : trace_(trace), output_(output), out_(output.buffer()), facts_(trace) {
    for (const TrackId track : all_tracks(trace)) labels_.push_back(track_label(trace, track));
  }

  void write() {
    out_ +=
        "record,id,time_ns,duration_ns,process,track,name,kind,category,parent,depth,value,"
        "arguments\n";
    write_slices();
    for (std::size_t i = 0; i < trace_.markers().size(); ++i) {
      const Marker& marker = trace_.markers()[i];
      begin("marker", i, marker.time);
      out_ += ',';
      place(marker.track);
      text(trace_.text(marker.name));
      text(std::string_view(&marker.scope, 1));
      text(trace_.text(marker.category));
      out_ += ",,,";
      end(facts_.of(MarkerId(i)));
    }
    for (std::size_t i = 0; i < trace_.counters().size(); ++i) {
      const CounterValue& value = trace_.counters()[i];
      begin("counter", i, value.time);
      out_ += ',';
      place(value.track);
      text(trace_.text(value.counter));
      text(trace_.text(value.series));
      out_ += ",,,,";
      append_real(out_, value.value);
      end(facts_.of(CounterId(i)));
    }
    for (std::size_t i = 0; i < trace_.allocations().size(); ++i) {
      const Allocation& allocation = trace_.allocations()[i];
      begin("allocation", i, allocation.time);
      out_ += ',';
      place(allocation.track);
      text(trace_.text(allocation.tag));
      out_ += ",,,,,";
      append_integer(out_, allocation.bytes);
      end(facts_.of(allocation));
    }
    write_samples();
    write_links("launch_to_device", trace_.launch_to_device());
    write_links("operator_to_launch", trace_.operator_to_launch());
    write_links("forward_to_backward", trace_.forward_to_backward());
    write_links("flow", trace_.flows());
    write_functions();
    write_process_memory();
  }

 private:
  void begin(std::string_view record, std::size_t id, Nanos time) {
    out_ += record;
    out_ += ',';
    append_unsigned(out_, id);
    out_ += ',';
    append_integer(out_, time);
    out_ += ',';
  }
  void text(std::string_view value) {
    out_ += ',';
    append_csv_field(out_, value);
  }
  void place(TrackId track) {
    append_csv_field(out_, trace_.text(trace_.track(track).process));
    text(labels_[track.index()]);
  }
  void end(const std::vector<Fact>& facts) {
    out_ += ',';
    if (!facts.empty()) {
      std::string json;
      append_json_facts(json, facts);
      append_csv_field(out_, json);
    }
    out_ += '\n';
    output_.settle();
  }

  void write_slices() {
    const SliceColumns& slices = trace_.slices();
    for (const SliceId slice : all_slices(trace_)) {
      if (output_.failed()) return;
      begin("slice", slice.index(), slices.start(slice));
      append_integer(out_, slices.duration(slice));
      out_ += ',';
      place(slices.track(slice));
      text(trace_.name(slice));
      text(kind_name(slices.kind(slice)));
      const StringId* category = trace_.categories().find(slice);
      text(category != nullptr ? trace_.text(*category) : std::string_view());
      out_ += ',';
      if (slices.parent(slice).valid()) append_unsigned(out_, slices.parent(slice).value);
      out_ += ',';
      append_unsigned(out_, slices.depth(slice));
      out_ += ',';
      end(facts_.of(slice));
    }
  }

  // The stack stands among the arguments, from the outermost frame in.
  void write_samples() {
    for (std::size_t i = 0; i < trace_.samples().size() && !output_.failed(); ++i) {
      const Sample& sample = trace_.samples()[i];
      begin("sample", i, sample.time);
      out_ += ',';
      place(sample.track);
      const bool known = sample.stack.index() < trace_.stacks().size();
      text(known ? trace_.text(trace_.stacks()[sample.stack.index()].function) : "");
      text(sample.type < trace_.sample_types().size()
               ? trace_.text(trace_.sample_types()[sample.type].name)
               : "samples");
      out_ += ",,,,";
      append_real(out_, sample.weight);
      std::vector<std::string_view> frames;
      for (StackId at = sample.stack; at.index() < trace_.stacks().size();
           at = trace_.stacks()[at.index()].caller)
        frames.push_back(trace_.text(trace_.stacks()[at.index()].function));
      std::string json = "[";
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        if (json.size() > 1) json += ", ";
        append_json_text(json, *frame);
      }
      out_ += ',';
      append_csv_field(out_, json + "]");
      out_ += '\n';
      output_.settle();
    }
  }

  void write_links(std::string_view kind, const Links& links) {
    for (std::size_t i = 0; i < links.size() && !output_.failed(); ++i) {
      out_ += "link,";
      append_unsigned(out_, links.from(i).value);
      out_ += ",,,,,";
      out_ += kind;
      out_ += ",,,,,";
      append_unsigned(out_, links.to(i).value);
      out_ += ",\n";
      output_.settle();
    }
  }

  void write_functions() {
    const CallProfile& profile = trace_.call_profile();
    for (std::size_t f = 0; f < profile.functions.size() && !output_.failed(); ++f) {
      const CallProfile::Function& function = profile.functions[f];
      out_ += "function,";
      append_unsigned(out_, f);
      out_ += ",,,,";
      append_csv_field(out_, trace_.text(function.file));
      text(trace_.text(function.name));
      text("function");
      out_ += ",,,,";
      append_integer(out_, function.calls);
      std::string json = "{\"line\": " + std::to_string(function.line) +
                         ", \"primitive_calls\": " + std::to_string(function.primitive_calls);
      for (std::size_t t = 0; t < profile.types.size(); ++t) {
        const std::size_t at = f * profile.types.size() + t;
        const std::string name(trace_.text(profile.types[t].name));
        const auto add = [&](const std::string& key, const std::vector<std::int64_t>& costs) {
          json += ", ";
          append_json_text(json, key);
          json += ": ";
          append_integer(json, at < costs.size() ? costs[at] : 0);
        };
        add(name + " self", profile.function_self);
        add(name + " total", profile.function_total);
      }
      out_ += ',';
      append_csv_field(out_, json + "}");
      out_ += '\n';
      output_.settle();
    }
  }

  // Rows without a time of their own; `value` is what was allocated, or the size of objects.
  void write_memory_row(std::string_view record, std::size_t id, std::string_view file,
                        std::string_view name, std::string_view kind, std::int64_t value,
                        const std::string& json) {
    out_ += record;
    out_ += ',';
    append_unsigned(out_, id);
    out_ += ",,,,";
    append_csv_field(out_, file);
    text(name);
    text(kind);
    out_ += ",,,,";
    append_integer(out_, value);
    out_ += ',';
    append_csv_field(out_, json);
    out_ += '\n';
    output_.settle();
  }

  void write_process_memory() {
    const ProcessMemory& memory = trace_.process_memory();
    for (std::size_t i = 0; i < memory.sites.size() && !output_.failed(); ++i) {
      const ProcessMemory::Site& site = memory.sites[i];
      StackFrame frame;
      if (site.stack.valid()) frame = trace_.stacks()[site.stack.index()];
      write_memory_row(
          "memory_site", i, trace_.text(frame.file), trace_.text(frame.function),
          site.native ? "native" : "python", site.allocated_bytes,
          fmt::format("{{\"line\": {}, \"allocations\": {}, \"frees\": {}, \"freed_bytes\": {}, "
                      "\"peak_bytes\": {}}}",
                      frame.line, site.allocations, site.frees, site.freed_bytes, site.peak_bytes));
    }
    for (std::size_t i = 0; i < memory.lines.size() && !output_.failed(); ++i) {
      const ProcessMemory::Line& line = memory.lines[i];
      write_memory_row(
          "memory_line", i, trace_.text(line.file), trace_.text(line.function), "line",
          line.increment,
          fmt::format("{{\"line\": {}, \"hits\": {}, \"bytes\": {}, \"peak_bytes\": {}}}",
                      line.line, line.hits, line.bytes, line.peak));
    }
    for (const ProcessMemory::Snapshot& snapshot : memory.snapshots) {
      const auto index = static_cast<std::size_t>(&snapshot - memory.snapshots.data());
      for (const ProcessMemory::ObjectType& type : snapshot.types) {
        if (output_.failed()) return;
        write_memory_row(
            "objects", index, trace_.text(snapshot.label), trace_.text(type.name), "type",
            type.bytes,
            fmt::format("{{\"count\": {}, \"time_ns\": {}}}", type.count, snapshot.time));
      }
    }
  }

  const Trace& trace_;
  BufferedOutput& output_;
  std::string& out_;
  FactSource facts_;
  std::vector<std::string> labels_;
};

}  // namespace

Result<ExportNotes> write_model_csv(const ExportInput& input, BufferedOutput& out) {
  CsvWriter(input.trace, out).write();
  ExportNotes notes;
  note_left_out(notes, "calls between functions", input.trace.call_profile().calls.size());
  note_left_out(notes, "costs of lines", input.trace.call_profile().lines.size());
  return notes;
}

}  // namespace sonde
