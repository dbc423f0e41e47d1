#include "export/sqlite/sqlite.hpp"

#include <array>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

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
    write_process_memory();
    database_.run(kSqliteIndices);
    database_.run(kSqliteViews);
  }

 private:
  using Text = std::string_view;

  void write_meta() {
    const TraceMeta& meta = trace_.meta();
    std::vector<std::pair<std::string, std::string>> facts = {
        {"schema", "1"}, {"writer", "sonde " + std::string(kVersion)}};
    const auto add = [&](const char* key, std::string value) {
      if (!value.empty()) facts.emplace_back(key, std::move(value));
    };
    add("format", meta.format);
    add("producer", meta.producer);
    add("version", meta.version);
    add("device_family", meta.device_family);
    add("backend", meta.backend);
    if (meta.rank >= 0) add("rank", std::to_string(meta.rank));
    if (meta.world_size >= 0) add("world_size", std::to_string(meta.world_size));
    add("origin_ns", std::to_string(meta.origin));
    if (meta.wall_clock) add("unix_ns_of_time_0", std::to_string(meta.base_time + meta.origin));
    add("end_ns", std::to_string(trace_.span_end()));
    facts.insert(facts.end(), meta.properties.begin(), meta.properties.end());
    database_.fill("meta", facts.size(), [&](std::size_t i) {
      return std::tuple(Text(facts[i].first), Text(facts[i].second));
    });
    database_.fill("devices", meta.devices.size(), [&](std::size_t i) {
      const Device& d = meta.devices[i];
      return std::tuple(d.id, Text(d.name), d.memory_bytes, d.compute_major, d.compute_minor,
                        d.multiprocessors, d.max_threads_per_multiprocessor, d.warp_size);
    });
    const std::vector<LossLedger::Entry>& losses = trace_.losses().entries();
    database_.fill("losses", losses.size(), [&](std::size_t i) {
      const LossLedger::Entry& entry = losses[i];
      const Maybe offset{static_cast<std::int64_t>(entry.first_offset),
                         entry.first_offset != LossLedger::kNoOffset};
      return std::tuple(Text(entry.name), Text(severity_name(entry.severity)), Text(entry.sentence),
                        static_cast<std::int64_t>(entry.count), offset, Text(entry.example));
    });
  }

  void write_names() {
    database_.fill("strings", trace_.strings().size(),
                   [&](std::size_t i) { return std::tuple(i, trace_.text(StringId(i))); });
    database_.fill("kinds", kSliceKindCount,
                   [&](std::size_t i) { return std::tuple(i, kSliceKindNames[i]); });
  }

  void write_tracks() {
    database_.fill("tracks", trace_.tracks().size(), [&](std::size_t i) {
      const Track& t = trace_.tracks()[i];
      return std::tuple(i, kTrackTypes[static_cast<std::size_t>(t.type)], t.pid, t.tid,
                        unless_none(t.device), maybe(t.sort_index), trace_.text(t.process),
                        trace_.text(t.labels), trace_.text(t.name));
    });
  }

  void write_slices() {
    const SliceColumns& s = trace_.slices();
    database_.fill("slice", s.size(), [&](std::size_t i) {
      const SliceId id(i);
      return std::tuple(i, s.start(id), s.duration(id), s.name(id), s.track(id), s.parent(id),
                        s.depth(id), static_cast<std::uint32_t>(s.kind(id)));
    });
    database_.fill("slice_category", trace_.categories().size(), [&](std::size_t i) {
      return std::tuple(trace_.categories().key(i), trace_.categories().row(i));
    });
  }

  void write_facts() {
    database_.fill("operator_facts", trace_.operators().size(), [&](std::size_t i) {
      const OperatorRow& row = trace_.operators().row(i);
      const OperatorInputs& in = trace_.inputs(row.inputs);
      return std::tuple(trace_.operators().key(i), maybe(row.external_id), maybe(row.sequence),
                        unless_none(row.forward_thread), in.shapes, in.types, in.strides,
                        in.concrete, row.stack, row.module, unless_none(row.order),
                        row.is_annotation);
    });
    database_.fill("launch_facts", trace_.launches().size(), [&](std::size_t i) {
      const LaunchRow& row = trace_.launches().row(i);
      return std::tuple(trace_.launches().key(i), maybe(row.correlation), maybe(row.external_id),
                        maybe(row.cbid));
    });
    database_.fill("device_facts", trace_.device_work().size(), [&](std::size_t i) {
      const DeviceRow& row = trace_.device_work().row(i);
      return std::tuple(
          trace_.device_work().key(i), maybe(row.correlation), maybe(row.external_id),
          maybe(row.stream), unless_none(row.device), unless_none(row.context), maybe(row.bytes),
          unless_none(row.registers), unless_none(row.shared_memory), unless_none(row.grid[0]),
          unless_none(row.grid[1]), unless_none(row.grid[2]), unless_none(row.block[0]),
          unless_none(row.block[1]), unless_none(row.block[2]), row.blocks_per_sm, row.warps_per_sm,
          row.occupancy, row.bandwidth);
    });
    database_.fill("python_facts", trace_.python().size(), [&](std::size_t i) {
      const PythonRow& row = trace_.python().row(i);
      return std::tuple(trace_.python().key(i), maybe(row.id), maybe(row.parent_id),
                        maybe(row.module_id));
    });
    database_.fill("collective_facts", trace_.collectives().size(), [&](std::size_t i) {
      const CollectiveRow& row = trace_.collectives().row(i);
      return std::tuple(trace_.collectives().key(i), trace_.text(row.collective),
                        trace_.text(row.dtype), trace_.text(row.group),
                        trace_.text(row.group_description), trace_.text(row.group_ranks),
                        maybe(row.in_elements), maybe(row.out_elements), maybe(row.group_size),
                        maybe(row.sequence));
    });
  }

  // A number or a text, as the database keeps it.
  using ArgumentCell = std::variant<std::int64_t, double, Text>;
  template <class Owner>
  ArgumentCell cell(const Argument<Owner>& argument) const {
    if (argument.type() == ArgType::Integer) return argument.integer();
    if (argument.type() == ArgType::Real) return argument.real();
    return trace_.text(argument.text());
  }

  template <class Owner>
  void write_arguments_of(Text owner, const Arguments<Owner>& all) {
    database_.fill("arguments", all.size(), [&](std::size_t i) {
      return std::tuple(owner, all[i].owner(), all[i].key(), cell(all[i]));
    });
  }

  // What slices share is written for each of them: who asks for a slice finds all of it.
  void write_shared_arguments() {
    const ArgumentSets& shared = trace_.shared_arguments();
    if (shared.empty()) return;
    // Rows are asked for in order: those of one slice wait here.
    std::vector<const SetArg*> waiting;
    const auto collect = [&](SliceId slice) {
      waiting.clear();
      for_each_argument(trace_, slice, [&](const auto& argument) {
        if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, SetArg>)
          waiting.push_back(&argument);
      });
    };
    std::size_t rows = 0;
    for (const SliceId slice : all_slices(trace_)) {
      collect(slice);
      rows += waiting.size();
    }
    waiting.clear();
    std::uint32_t next_slice = 0;
    std::size_t at = 0;
    database_.fill("arguments", rows, [&](std::size_t) {
      for (; at == waiting.size(); at = 0) collect(SliceId(next_slice++));
      const SetArg& argument = *waiting[at++];
      return std::tuple(Text("slice"), SliceId(next_slice - 1), argument.key(), cell(argument));
    });
  }

  void write_arguments() {
    write_arguments_of("slice", trace_.arguments());
    write_shared_arguments();
    write_arguments_of("marker", trace_.marker_arguments());
    write_arguments_of("counter", trace_.counter_arguments());
  }

  void write_links() {
    const auto all = [&](Text kind, const Links& links) {
      database_.fill("links", links.size(),
                     [&](std::size_t i) { return std::tuple(kind, links.from(i), links.to(i)); });
    };
    all("launch_to_device", trace_.launch_to_device());
    all("operator_to_launch", trace_.operator_to_launch());
    all("forward_to_backward", trace_.forward_to_backward());
    all("flow", trace_.flows());
  }

  void write_points() {
    database_.fill("markers", trace_.markers().size(), [&](std::size_t i) {
      const Marker& m = trace_.markers()[i];
      return std::tuple(i, m.time, m.track, m.name, Text(&m.scope, 1), m.category);
    });
    database_.fill("counters", trace_.counters().size(), [&](std::size_t i) {
      const CounterValue& c = trace_.counters()[i];
      return std::tuple(i, c.time, c.track, c.counter, c.series, c.value);
    });
    database_.fill("allocations", trace_.allocations().size(), [&](std::size_t i) {
      const Allocation& a = trace_.allocations()[i];
      return std::tuple(i, a.time, a.track, static_cast<std::int64_t>(a.address), a.bytes,
                        maybe(a.total_allocated), maybe(a.total_reserved), a.device_type,
                        unless_none(a.device), a.out_of_memory, a.pool, a.tag, a.stack);
    });
  }

  void write_samples() {
    database_.fill("stacks", trace_.stacks().size(), [&](std::size_t i) {
      const StackFrame& f = trace_.stacks()[i];
      return std::tuple(i, f.caller, f.function, f.file, Maybe{f.line, f.line != 0});
    });
    database_.fill("sample_types", trace_.sample_types().size(), [&](std::size_t i) {
      const SampleType& type = trace_.sample_types()[i];
      return std::tuple(i, trace_.text(type.name), trace_.text(type.unit), type.timed);
    });
    database_.fill("samples", trace_.samples().size(), [&](std::size_t i) {
      const Sample& s = trace_.samples()[i];
      return std::tuple(i, s.time, s.track, s.stack, s.type, s.weight);
    });
  }

  void write_call_profile() {
    const CallProfile& profile = trace_.call_profile();
    const std::size_t types = profile.types.size();
    const auto cost = [](const std::vector<std::int64_t>& costs, std::size_t at) {
      return at < costs.size() ? costs[at] : 0;
    };
    database_.fill("cost_types", types, [&](std::size_t i) {
      return std::tuple(i, trace_.text(profile.types[i].name), trace_.text(profile.types[i].unit));
    });
    database_.fill("functions", profile.functions.size(), [&](std::size_t i) {
      const CallProfile::Function& f = profile.functions[i];
      return std::tuple(i, trace_.text(f.name), trace_.text(f.file), trace_.text(f.module), f.line,
                        f.calls, f.primitive_calls, trace_.text(f.qualified_name));
    });
    database_.fill("function_costs", profile.functions.size() * types, [&](std::size_t i) {
      return std::tuple(i / types, i % types, cost(profile.function_self, i),
                        cost(profile.function_total, i));
    });
    database_.fill("calls", profile.calls.size(), [&](std::size_t i) {
      const CallProfile::Call& c = profile.calls[i];
      return std::tuple(i, c.caller, c.callee, c.line, c.calls, c.primitive_calls);
    });
    database_.fill("call_costs", profile.calls.size() * types, [&](std::size_t i) {
      return std::tuple(i / types, i % types, cost(profile.call_self, i),
                        cost(profile.call_total, i));
    });
    database_.fill("function_lines", profile.lines.size(), [&](std::size_t i) {
      const CallProfile::Line& l = profile.lines[i];
      return std::tuple(i, l.function, trace_.text(l.file), l.line, l.hits);
    });
    database_.fill("line_costs", profile.lines.size() * types, [&](std::size_t i) {
      return std::tuple(i / types, i % types, cost(profile.line_self, i));
    });
  }

  void write_process_memory() {
    const ProcessMemory& memory = trace_.process_memory();
    database_.fill("memory_sites", memory.sites.size(), [&](std::size_t i) {
      const ProcessMemory::Site& s = memory.sites[i];
      return std::tuple(i, s.stack, s.native, s.allocations, s.allocated_bytes, s.frees,
                        s.freed_bytes, s.peak_bytes);
    });
    database_.fill("memory_lines", memory.lines.size(), [&](std::size_t i) {
      const ProcessMemory::Line& l = memory.lines[i];
      return std::tuple(i, trace_.text(l.file), trace_.text(l.function), l.function_line, l.line,
                        l.hits, l.bytes, l.increment, l.peak);
    });
    database_.fill("object_snapshots", memory.snapshots.size(), [&](std::size_t i) {
      const ProcessMemory::Snapshot& s = memory.snapshots[i];
      return std::tuple(i, trace_.text(s.label), s.time);
    });
    for (std::size_t s = 0; s < memory.snapshots.size(); ++s) {
      const auto& types = memory.snapshots[s].types;
      database_.fill("object_types", types.size(), [&](std::size_t i) {
        return std::tuple(s, trace_.text(types[i].name), types[i].count, types[i].bytes);
      });
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
