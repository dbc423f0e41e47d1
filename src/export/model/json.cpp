#include "export/model/json.hpp"

#include <array>

#include "export/model/json_rows.hpp"
#include "export/slice_facts.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

constexpr std::array<std::string_view, 5> kTrackTypes = {"thread", "stream", "async", "span",
                                                         "counter"};

// Members are left out where nothing is known.
class ModelWriter : private JsonRows {
 public:
  ModelWriter(const Trace& trace, BufferedOutput& output)
      : JsonRows(output), trace_(trace), facts_(trace) {}

  void write() {
    out_ += "{\n\"meta\": {";
    write_meta();
    out_ += "}";
    write_tracks();
    write_slices();
    write_links();
    write_points();
    write_samples();
    write_call_profile();
    write_process_memory();
    write_losses();
    out_ += "\n}\n";
  }

 private:
  using JsonRows::text;
  void text(std::string_view name, StringId value) {
    if (value.valid()) text(name, trace_.text(value));
  }
  template <class Tag>
  void reference(std::string_view name, Id<Tag> id) {
    if (id.valid()) number(name, id.value);
  }
  void arguments(const std::vector<Fact>& facts) {
    if (facts.empty()) return;
    key("arguments");
    append_json_facts(out_, facts);
  }

  void write_meta() {
    const TraceMeta& meta = trace_.meta();
    first_member_ = true;
    text("format", meta.format);
    text("producer", meta.producer);
    if (!meta.version.empty()) text("version", meta.version);
    if (!meta.device_family.empty()) text("device_family", meta.device_family);
    if (!meta.backend.empty()) text("backend", meta.backend);
    if (meta.rank >= 0) number("rank", meta.rank);
    if (meta.world_size >= 0) number("world_size", meta.world_size);
    number("origin_ns", meta.origin);
    if (meta.wall_clock) number("unix_ns_of_time_0", meta.base_time + meta.origin);
    number("end_ns", trace_.span_end());
    key("properties");
    out_ += '{';
    first_member_ = true;
    for (const auto& [name, value] : meta.properties) {
      if (!first_member_) out_ += ", ";
      first_member_ = false;
      append_json_text(out_, name);
      out_ += ": ";
      if (is_json_value(value))
        out_ += value;
      else
        append_json_text(out_, value);
    }
    out_ += "}, \"devices\": [";
    first_row_ = true;
    for (const Device& device : meta.devices) {
      begin();
      number("id", device.id);
      text("name", device.name);
      number("memory_bytes", device.memory_bytes);
      number("compute_major", device.compute_major);
      number("compute_minor", device.compute_minor);
      number("multiprocessors", device.multiprocessors);
      number("max_threads_per_multiprocessor", device.max_threads_per_multiprocessor);
      number("warp_size", device.warp_size);
      end();
    }
    out_ += ']';
  }

  void write_tracks() {
    list("tracks");
    for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
      const Track& track = trace_.tracks()[i];
      begin();
      number("id", static_cast<std::int64_t>(i));
      text("type", kTrackTypes[static_cast<std::size_t>(track.type)]);
      number("pid", track.pid);
      number("tid", track.tid);
      if (track.device >= 0) number("device", track.device);
      number("sort_index", track.sort_index);
      text("process", track.process);
      text("labels", track.labels);
      text("name", track.name);
      end();
    }
    end_list();
  }

  void write_slices() {
    const SliceColumns& slices = trace_.slices();
    list("slices");
    for (const SliceId slice : all_slices(trace_)) {
      if (output_.failed()) return;
      begin();
      number("id", slice.value);
      number("start_ns", slices.start(slice));
      number("duration_ns", slices.duration(slice));
      text("name", trace_.name(slice));
      text("kind", kind_name(slices.kind(slice)));
      if (const StringId* category = trace_.categories().find(slice)) text("category", *category);
      reference("track", slices.track(slice));
      reference("parent", slices.parent(slice));
      arguments(facts_.of(slice));
      end();
    }
    end_list();
  }

  void write_links() {
    list("links");
    const auto all = [&](std::string_view kind, const Links& links) {
      for (std::size_t i = 0; i < links.size(); ++i) {
        begin();
        text("kind", kind);
        reference("from", links.from(i));
        reference("to", links.to(i));
        end();
      }
    };
    all("launch_to_device", trace_.launch_to_device());
    all("operator_to_launch", trace_.operator_to_launch());
    all("forward_to_backward", trace_.forward_to_backward());
    all("flow", trace_.flows());
    end_list();
  }

  void write_points() {
    list("markers");
    for (std::size_t i = 0; i < trace_.markers().size(); ++i) {
      const Marker& marker = trace_.markers()[i];
      begin();
      number("time_ns", marker.time);
      reference("track", marker.track);
      text("name", marker.name);
      text("scope", std::string_view(&marker.scope, 1));
      text("category", marker.category);
      arguments(facts_.of(MarkerId(i)));
      end();
    }
    end_list();
    list("counters");
    for (std::size_t i = 0; i < trace_.counters().size(); ++i) {
      const CounterValue& value = trace_.counters()[i];
      begin();
      number("time_ns", value.time);
      reference("track", value.track);
      text("counter", value.counter);
      text("series", value.series);
      real("value", value.value);
      arguments(facts_.of(CounterId(i)));
      end();
    }
    end_list();
    list("allocations");
    for (const Allocation& allocation : trace_.allocations()) {
      begin();
      number("time_ns", allocation.time);
      reference("track", allocation.track);
      if (allocation.out_of_memory) number("out_of_memory", 1);
      reference("stack", allocation.stack);
      arguments(facts_.of(allocation));
      end();
    }
    end_list();
  }

  void write_samples() {
    list("stacks");
    for (const StackFrame& frame : trace_.stacks()) {
      begin();
      reference("caller", frame.caller);
      text("function", frame.function);
      text("file", frame.file);
      if (frame.line != 0) number("line", frame.line);
      end();
    }
    end_list();
    list("sample_types");
    for (const SampleType& type : trace_.sample_types()) {
      begin();
      text("name", type.name);
      text("unit", type.unit);
      end();
    }
    end_list();
    list("samples");
    for (const Sample& sample : trace_.samples()) {
      begin();
      number("time_ns", sample.time);
      reference("track", sample.track);
      reference("stack", sample.stack);
      number("type", sample.type);
      real("weight", sample.weight);
      end();
    }
    end_list();
  }

  void costs(std::string_view name, const std::vector<std::int64_t>& all, std::size_t row) {
    key(name);
    out_ += '[';
    const std::size_t count = trace_.call_profile().types.size();
    for (std::size_t t = 0; t < count; ++t) {
      if (t) out_ += ", ";
      append_integer(out_, row * count + t < all.size() ? all[row * count + t] : 0);
    }
    out_ += ']';
  }

  void write_call_profile() {
    const CallProfile& profile = trace_.call_profile();
    if (profile.empty()) return;
    list("cost_types");
    for (const CostType& type : profile.types) {
      begin();
      text("name", type.name);
      text("unit", type.unit);
      end();
    }
    end_list();
    list("functions");
    for (std::size_t i = 0; i < profile.functions.size(); ++i) {
      const CallProfile::Function& function = profile.functions[i];
      begin();
      text("name", function.name);
      text("qualified_name", function.qualified_name);
      text("file", function.file);
      text("module", function.module);
      number("line", function.line);
      number("calls", function.calls);
      number("primitive_calls", function.primitive_calls);
      costs("self", profile.function_self, i);
      costs("total", profile.function_total, i);
      end();
    }
    end_list();
    list("calls");
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
      const CallProfile::Call& call = profile.calls[i];
      begin();
      reference("caller", call.caller);
      reference("callee", call.callee);
      number("line", call.line);
      number("calls", call.calls);
      number("primitive_calls", call.primitive_calls);
      costs("self", profile.call_self, i);
      costs("total", profile.call_total, i);
      end();
    }
    end_list();
    list("lines");
    for (std::size_t i = 0; i < profile.lines.size(); ++i) {
      const CallProfile::Line& line = profile.lines[i];
      begin();
      reference("function", line.function);
      text("file", line.file);
      number("line", line.line);
      number("hits", line.hits);
      costs("self", profile.line_self, i);
      end();
    }
    end_list();
  }

  void write_process_memory() {
    const ProcessMemory& memory = trace_.process_memory();
    if (memory.empty()) return;
    list("memory_sites");
    for (const ProcessMemory::Site& site : memory.sites) {
      begin();
      reference("stack", site.stack);
      text("memory", site.native ? "native" : "python");
      number("allocations", site.allocations);
      number("allocated_bytes", site.allocated_bytes);
      number("frees", site.frees);
      number("freed_bytes", site.freed_bytes);
      number("peak_bytes", site.peak_bytes);
      end();
    }
    end_list();
    list("memory_lines");
    for (const ProcessMemory::Line& line : memory.lines) {
      begin();
      text("file", line.file);
      text("function", line.function);
      number("function_line", line.function_line);
      number("line", line.line);
      number("hits", line.hits);
      number("bytes", line.bytes);
      number("increment_bytes", line.increment);
      number("peak_bytes", line.peak);
      end();
    }
    end_list();
    list("object_snapshots");
    for (const ProcessMemory::Snapshot& snapshot : memory.snapshots) {
      begin();
      text("label", snapshot.label);
      number("time_ns", snapshot.time);
      end();
    }
    end_list();
    list("object_types");
    for (std::size_t s = 0; s < memory.snapshots.size(); ++s) {
      for (const ProcessMemory::ObjectType& type : memory.snapshots[s].types) {
        begin();
        number("snapshot", static_cast<std::int64_t>(s));
        text("type", type.name);
        number("count", type.count);
        number("bytes", type.bytes);
        end();
      }
    }
    end_list();
  }

  void write_losses() {
    list("losses");
    for (const LossLedger::Entry& entry : trace_.losses().entries()) {
      begin();
      text("name", entry.name);
      text("severity", severity_name(entry.severity));
      text("sentence", entry.sentence);
      number("count", static_cast<std::int64_t>(entry.count));
      end();
    }
    end_list();
  }

  const Trace& trace_;
  FactSource facts_;
};

}  // namespace

Result<ExportNotes> write_model_json(const ExportInput& input, BufferedOutput& out) {
  ModelWriter(input.trace, out).write();
  return ExportNotes{};
}

}  // namespace sonde
