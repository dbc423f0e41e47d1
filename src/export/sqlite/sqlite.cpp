#include "export/sqlite/sqlite.hpp"

#include <array>

#include "export/sqlite/database.hpp"
#include "export/sqlite/schema.hpp"
#include "sonde_version.hpp"

namespace sonde {
namespace {

Maybe maybe(std::int64_t number) { return {number, number != kNoNumber}; }
Maybe unless_none(std::int64_t number) { return {number, number != -1}; }

constexpr std::array<std::string_view, 5> kTrackTypes = {"thread", "stream", "async", "span",
                                                         "counter"};

class SqliteWriter {
 public:
  SqliteWriter(const Trace& trace, Database& database) : trace_(trace), database_(database) {}

  void write() {
    database_.run(kSqliteTables);
    write_meta();
    write_names();
    write_tracks();
    write_slices();
    write_facts();
    write_arguments();
    write_links();
    write_points();
    write_samples();
    write_call_profile();
    database_.run(kSqliteIndices);
    database_.run(kSqliteViews);
  }

 private:
  void write_meta() {
    const TraceMeta& meta = trace_.meta();
    Insert insert(database_, "meta", 2);
    insert.row(std::string_view("schema"), std::string_view("1"));
    insert.row(std::string_view("writer"), std::string_view("sonde " + std::string(kVersion)));
    const auto text = [&](std::string_view key, const std::string& value) {
      if (!value.empty()) insert.row(key, std::string_view(value));
    };
    text("format", meta.format);
    text("producer", meta.producer);
    text("version", meta.version);
    text("device_family", meta.device_family);
    text("backend", meta.backend);
    if (meta.rank >= 0) text("rank", std::to_string(meta.rank));
    if (meta.world_size >= 0) text("world_size", std::to_string(meta.world_size));
    text("origin_ns", std::to_string(meta.origin));
    if (meta.wall_clock) text("unix_ns_of_time_0", std::to_string(meta.base_time + meta.origin));
    text("end_ns", std::to_string(trace_.span_end()));
    for (const auto& [key, value] : meta.properties)
      insert.row(std::string_view(key), std::string_view(value));

    Insert devices(database_, "devices", 8);
    for (const Device& d : meta.devices) {
      devices.row(d.id, std::string_view(d.name), d.memory_bytes, d.compute_major, d.compute_minor,
                  d.multiprocessors, d.max_threads_per_multiprocessor, d.warp_size);
    }
    Insert losses(database_, "losses", 6);
    for (const LossLedger::Entry& entry : trace_.losses().entries()) {
      losses.row(std::string_view(entry.name), severity_name(entry.severity),
                 std::string_view(entry.sentence), static_cast<std::int64_t>(entry.count),
                 Maybe{static_cast<std::int64_t>(entry.first_offset),
                       entry.first_offset != LossLedger::kNoOffset},
                 std::string_view(entry.example));
    }
  }

  void write_names() {
    Insert strings(database_, "strings", 2);
    for (std::size_t i = 0; i < trace_.strings().size(); ++i) {
      strings.row(i, trace_.text(StringId(i)));
    }
    Insert kinds(database_, "kinds", 2);
    for (std::size_t i = 0; i < kSliceKindCount; ++i) kinds.row(i, kSliceKindNames[i]);
  }

  void write_tracks() {
    Insert insert(database_, "tracks", 9);
    for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
      const Track& t = trace_.tracks()[i];
      insert.row(i, kTrackTypes[static_cast<std::size_t>(t.type)], t.pid, t.tid,
                 unless_none(t.device), maybe(t.sort_index), trace_.text(t.process),
                 trace_.text(t.labels), trace_.text(t.name));
    }
  }

  void write_slices() {
    const SliceColumns& s = trace_.slices();
    Insert insert(database_, "slice", 8);
    for (const SliceId id : all_slices(trace_)) {
      insert.row(id.value, s.start(id), s.duration(id), s.name(id), s.track(id), s.parent(id),
                 s.depth(id), static_cast<std::uint32_t>(s.kind(id)));
    }
    Insert categories(database_, "slice_category", 2);
    for (std::size_t i = 0; i < trace_.categories().size(); ++i)
      categories.row(trace_.categories().key(i).value, trace_.categories().row(i));
  }

  void write_facts() {
    Insert operators(database_, "operator_facts", 12);
    for (std::size_t i = 0; i < trace_.operators().size(); ++i) {
      const OperatorRow& row = trace_.operators().row(i);
      const OperatorInputs& in = trace_.inputs(row.inputs);
      operators.row(trace_.operators().key(i).value, maybe(row.external_id), maybe(row.sequence),
                    unless_none(row.forward_thread), in.shapes, in.types, in.strides, in.concrete,
                    row.stack, row.module, unless_none(row.order), row.is_annotation);
    }
    Insert launches(database_, "launch_facts", 4);
    for (std::size_t i = 0; i < trace_.launches().size(); ++i) {
      const LaunchRow& row = trace_.launches().row(i);
      launches.row(trace_.launches().key(i).value, maybe(row.correlation), maybe(row.external_id),
                   maybe(row.cbid));
    }
    Insert device(database_, "device_facts", 19);
    for (std::size_t i = 0; i < trace_.device_work().size(); ++i) {
      const DeviceRow& row = trace_.device_work().row(i);
      device.row(trace_.device_work().key(i).value, maybe(row.correlation), maybe(row.external_id),
                 maybe(row.stream), unless_none(row.device), unless_none(row.context),
                 maybe(row.bytes), unless_none(row.registers), unless_none(row.shared_memory),
                 unless_none(row.grid[0]), unless_none(row.grid[1]), unless_none(row.grid[2]),
                 unless_none(row.block[0]), unless_none(row.block[1]), unless_none(row.block[2]),
                 row.blocks_per_sm, row.warps_per_sm, row.occupancy, row.bandwidth);
    }
    Insert python(database_, "python_facts", 4);
    for (std::size_t i = 0; i < trace_.python().size(); ++i) {
      const PythonRow& row = trace_.python().row(i);
      python.row(trace_.python().key(i).value, maybe(row.id), maybe(row.parent_id),
                 maybe(row.module_id));
    }
    Insert collectives(database_, "collective_facts", 10);
    for (std::size_t i = 0; i < trace_.collectives().size(); ++i) {
      const CollectiveRow& row = trace_.collectives().row(i);
      collectives.row(trace_.collectives().key(i).value, trace_.text(row.collective),
                      trace_.text(row.dtype), trace_.text(row.group),
                      trace_.text(row.group_description), trace_.text(row.group_ranks),
                      maybe(row.in_elements), maybe(row.out_elements), maybe(row.group_size),
                      maybe(row.sequence));
    }
  }

  template <class Owner>
  void write_arguments_of(Insert& insert, std::string_view owner, const Arguments<Owner>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Argument<Owner>& argument = all[i];
      switch (argument.type()) {
        case ArgType::Integer:
          insert.row(owner, argument.owner().value, argument.key(), argument.integer());
          break;
        case ArgType::Real:
          insert.row(owner, argument.owner().value, argument.key(), argument.real());
          break;
        default:
          insert.row(owner, argument.owner().value, argument.key(), trace_.text(argument.text()));
      }
    }
  }

  void write_arguments() {
    Insert insert(database_, "arguments", 4);
    write_arguments_of(insert, "slice", trace_.arguments());
    write_arguments_of(insert, "marker", trace_.marker_arguments());
    write_arguments_of(insert, "counter", trace_.counter_arguments());
  }

  void write_links() {
    Insert insert(database_, "links", 3);
    const auto all = [&](std::string_view kind, const Links& links) {
      for (std::size_t i = 0; i < links.size(); ++i)
        insert.row(kind, links.from(i).value, links.to(i).value);
    };
    all("launch_to_device", trace_.launch_to_device());
    all("operator_to_launch", trace_.operator_to_launch());
    all("forward_to_backward", trace_.forward_to_backward());
    all("flow", trace_.flows());
  }

  void write_points() {
    Insert markers(database_, "markers", 6);
    for (std::size_t i = 0; i < trace_.markers().size(); ++i) {
      const Marker& m = trace_.markers()[i];
      markers.row(i, m.time, m.track, m.name, std::string_view(&m.scope, 1), m.category);
    }
    Insert counters(database_, "counters", 6);
    for (std::size_t i = 0; i < trace_.counters().size(); ++i) {
      const CounterValue& c = trace_.counters()[i];
      counters.row(i, c.time, c.track, c.counter, c.series, c.value);
    }
    Insert allocations(database_, "allocations", 13);
    for (std::size_t i = 0; i < trace_.allocations().size(); ++i) {
      const Allocation& a = trace_.allocations()[i];
      allocations.row(i, a.time, a.track, static_cast<std::int64_t>(a.address), a.bytes,
                      maybe(a.total_allocated), maybe(a.total_reserved), a.device_type,
                      unless_none(a.device), a.out_of_memory, a.pool, a.tag, a.stack);
    }
  }

  void write_samples() {
    Insert stacks(database_, "stacks", 5);
    for (std::size_t i = 0; i < trace_.stacks().size(); ++i) {
      const StackFrame& f = trace_.stacks()[i];
      stacks.row(i, f.caller, f.function, f.file, Maybe{f.line, f.line != 0});
    }
    Insert types(database_, "sample_types", 4);
    for (std::size_t i = 0; i < trace_.sample_types().size(); ++i) {
      const SampleType& type = trace_.sample_types()[i];
      types.row(i, trace_.text(type.name), trace_.text(type.unit), type.timed);
    }
    Insert samples(database_, "samples", 6);
    for (std::size_t i = 0; i < trace_.samples().size(); ++i) {
      const Sample& s = trace_.samples()[i];
      samples.row(i, s.time, s.track, s.stack, s.type, s.weight);
    }
  }

  void write_call_profile() {
    const CallProfile& profile = trace_.call_profile();
    const std::size_t count = profile.types.size();
    const auto cost = [&](const std::vector<std::int64_t>& costs, std::size_t row,
                          std::size_t type) {
      const std::size_t at = row * count + type;
      return at < costs.size() ? costs[at] : 0;
    };
    Insert types(database_, "cost_types", 3);
    for (std::size_t i = 0; i < count; ++i)
      types.row(i, trace_.text(profile.types[i].name), trace_.text(profile.types[i].unit));
    Insert functions(database_, "functions", 7);
    Insert function_costs(database_, "function_costs", 4);
    for (std::size_t i = 0; i < profile.functions.size(); ++i) {
      const CallProfile::Function& f = profile.functions[i];
      functions.row(i, trace_.text(f.name), trace_.text(f.file), trace_.text(f.module), f.line,
                    f.calls, f.primitive_calls);
      for (std::size_t t = 0; t < count; ++t)
        function_costs.row(i, t, cost(profile.function_self, i, t),
                           cost(profile.function_total, i, t));
    }
    Insert calls(database_, "calls", 6);
    Insert call_costs(database_, "call_costs", 4);
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
      const CallProfile::Call& c = profile.calls[i];
      calls.row(i, c.caller, c.callee, c.line, c.calls, c.primitive_calls);
      for (std::size_t t = 0; t < count; ++t)
        call_costs.row(i, t, cost(profile.call_self, i, t), cost(profile.call_total, i, t));
    }
    Insert lines(database_, "function_lines", 5);
    Insert line_costs(database_, "line_costs", 3);
    for (std::size_t i = 0; i < profile.lines.size(); ++i) {
      const CallProfile::Line& l = profile.lines[i];
      lines.row(i, l.function, trace_.text(l.file), l.line, l.hits);
      for (std::size_t t = 0; t < count; ++t) line_costs.row(i, t, cost(profile.line_self, i, t));
    }
  }

  const Trace& trace_;
  Database& database_;
};

}  // namespace

Result<ExportNotes> write_sqlite(const ExportInput& input, const std::string& path) {
  Database database(path);
  SqliteWriter(input.trace, database).write();
  if (std::optional<Error> error = database.finish()) return *error;
  return ExportNotes{};
}

}  // namespace sonde
