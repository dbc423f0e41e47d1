#pragma once

#include <cmath>
#include <sstream>
#include <string>

#include "trace/trace.hpp"

namespace sonde::test {

// What a round trip may change without being wrong about it.
struct SameOptions {
  bool origin = true;     // times of the file itself, not only those from the start
  bool meta = true;       // who wrote it, where, on what
  bool arguments = true;  // of slices and markers
};

// Compares all that a trace holds; "" where it is the same, else the first thing that is not.
// Numbers of tracks, strings and stacks may differ, what they stand for may not.
class TraceComparison {
 public:
  TraceComparison(const Trace& a, const Trace& b, SameOptions options = {})
      : a_(a), b_(b), options_(options) {}

  std::string difference() {
    compare_meta();
    compare_slices();
    compare_links("launch_to_device", a_.launch_to_device(), b_.launch_to_device());
    compare_links("operator_to_launch", a_.operator_to_launch(), b_.operator_to_launch());
    compare_links("forward_to_backward", a_.forward_to_backward(), b_.forward_to_backward());
    compare_links("flows", a_.flows(), b_.flows());
    compare_points();
    compare_samples();
    return found_;
  }

 private:
  template <class T>
  void same(const std::string& what, const T& a, const T& b) {
    if (!found_.empty() || a == b) return;
    std::ostringstream out;
    out << what << ": " << a << " became " << b;
    found_ = out.str();
  }
  void same_text(const std::string& what, StringId a, StringId b) {
    same(what, std::string(a_.text(a)), std::string(b_.text(b)));
  }

  static std::string track_text(const Trace& trace, TrackId id) {
    const Track& t = trace.track(id);
    std::ostringstream out;
    out << static_cast<int>(t.type) << " pid " << t.pid << " tid " << t.tid << " device "
        << t.device << " sort " << t.sort_index << " process '" << trace.text(t.process)
        << "' labels '" << trace.text(t.labels) << "' name '" << trace.text(t.name) << "'";
    return out.str();
  }
  void same_track(const std::string& what, TrackId a, TrackId b) {
    same(what + " track", track_text(a_, a), track_text(b_, b));
  }

  template <class Owner>
  static std::string arguments_text(const Trace& trace, const Arguments<Owner>& all, Owner owner) {
    std::ostringstream out;
    for (const Argument<Owner>& argument : all.of(owner)) {
      out << trace.text(argument.key()) << "=";
      if (argument.type() == ArgType::Integer)
        out << argument.integer();
      else if (argument.type() == ArgType::Real)
        out << "r" << argument.real();
      else
        out << (argument.type() == ArgType::Text ? "t" : "j") << trace.text(argument.text());
      out << "; ";
    }
    return out.str();
  }

  void compare_meta() {
    const TraceMeta& a = a_.meta();
    const TraceMeta& b = b_.meta();
    same("end", a_.span_end(), b_.span_end());
    if (options_.origin) {
      same("origin", a.origin, b.origin);
      same("wall clock", a.wall_clock, b.wall_clock);
      same("base time", a.base_time, b.base_time);
    }
    if (!options_.meta) return;
    same("format", a.format, b.format);
    same("version", a.version, b.version);
    same("device family", a.device_family, b.device_family);
    same("backend", a.backend, b.backend);
    same("rank", a.rank, b.rank);
    same("world size", a.world_size, b.world_size);
    same("profile_memory", a.profile_memory, b.profile_memory);
    same("with_stack", a.with_stack, b.with_stack);
    same("record_shapes", a.record_shapes, b.record_shapes);
    same("with_modules", a.with_modules, b.with_modules);
    same("with_flops", a.with_flops, b.with_flops);
    same("devices", a.devices.size(), b.devices.size());
    for (std::size_t i = 0; found_.empty() && i < a.devices.size(); ++i) {
      const Device& x = a.devices[i];
      const Device& y = b.devices[i];
      same("device", x.name, y.name);
      same("device memory", x.memory_bytes, y.memory_bytes);
      same("device id", x.id, y.id);
      same("device SMs", x.multiprocessors, y.multiprocessors);
      same("device compute", x.compute_major * 100 + x.compute_minor,
           y.compute_major * 100 + y.compute_minor);
      same("device threads", x.max_threads_per_multiprocessor, y.max_threads_per_multiprocessor);
      same("device warp", x.warp_size, y.warp_size);
    }
  }

  void compare_slices() {
    same("slices", a_.slice_count(), b_.slice_count());
    for (const SliceId s : all_slices(a_)) {
      if (!found_.empty()) return;
      const SliceColumns& x = a_.slices();
      const SliceColumns& y = b_.slices();
      const std::string what =
          "slice " + std::to_string(s.value) + " '" + std::string(a_.name(s)) + "' ";
      same_text(what + "name", x.name(s), y.name(s));
      same(what + "start", x.start(s), y.start(s));
      same(what + "duration", x.duration(s), y.duration(s));
      same(what + "kind", std::string(kind_name(x.kind(s))), std::string(kind_name(y.kind(s))));
      same(what + "parent", x.parent(s).value, y.parent(s).value);
      same(what + "depth", x.depth(s), y.depth(s));
      same_track(what, x.track(s), y.track(s));
      compare_rows(what, s);
      if (options_.arguments)
        same(what + "arguments", arguments_text(a_, a_.arguments(), s),
             arguments_text(b_, b_.arguments(), s));
    }
  }

  template <class Row>
  void rows(const std::string& what, const SideTable<Row>& a, const SideTable<Row>& b, SliceId s,
            auto compare) {
    const Row none{};
    const Row* x = a.find(s);
    const Row* y = b.find(s);
    if (x == nullptr && y == nullptr) return;
    // A row that says nothing is no row.
    compare(what, x != nullptr ? *x : none, y != nullptr ? *y : none);
  }

  void compare_rows(const std::string& what, SliceId s) {
    rows(what + "operator ", a_.operators(), b_.operators(), s,
         [&](const std::string& w, const OperatorRow& x, const OperatorRow& y) {
           same(w + "external id", x.external_id, y.external_id);
           same(w + "sequence", x.sequence, y.sequence);
           same(w + "forward thread", x.forward_thread, y.forward_thread);
           same(w + "order", x.order, y.order);
           same(w + "annotation", x.is_annotation, y.is_annotation);
           same_text(w + "stack", x.stack, y.stack);
           same_text(w + "module", x.module, y.module);
           const OperatorInputs& in = a_.inputs(x.inputs);
           const OperatorInputs& out = b_.inputs(y.inputs);
           same_text(w + "shapes", in.shapes, out.shapes);
           same_text(w + "types", in.types, out.types);
           same_text(w + "strides", in.strides, out.strides);
           same_text(w + "concrete", in.concrete, out.concrete);
         });
    rows(what + "launch ", a_.launches(), b_.launches(), s,
         [&](const std::string& w, const LaunchRow& x, const LaunchRow& y) {
           same(w + "correlation", x.correlation, y.correlation);
           same(w + "external id", x.external_id, y.external_id);
           same(w + "cbid", x.cbid, y.cbid);
         });
    rows(what + "device ", a_.device_work(), b_.device_work(), s,
         [&](const std::string& w, const DeviceRow& x, const DeviceRow& y) {
           same(w + "correlation", x.correlation, y.correlation);
           same(w + "external id", x.external_id, y.external_id);
           same(w + "stream", x.stream, y.stream);
           same(w + "bytes", x.bytes, y.bytes);
           same(w + "context", x.context, y.context);
           same(w + "device", x.device, y.device);
           same(w + "registers", x.registers, y.registers);
           same(w + "shared memory", x.shared_memory, y.shared_memory);
           for (std::size_t i = 0; i < 3; ++i) {
             same(w + "grid", x.grid[i], y.grid[i]);
             same(w + "block", x.block[i], y.block[i]);
           }
           same(w + "blocks per SM", x.blocks_per_sm, y.blocks_per_sm);
           same(w + "warps per SM", x.warps_per_sm, y.warps_per_sm);
           same(w + "occupancy", x.occupancy, y.occupancy);
           same(w + "bandwidth", x.bandwidth, y.bandwidth);
         });
    rows(what + "python ", a_.python(), b_.python(), s,
         [&](const std::string& w, const PythonRow& x, const PythonRow& y) {
           same(w + "id", x.id, y.id);
           same(w + "parent", x.parent_id, y.parent_id);
           same(w + "module", x.module_id, y.module_id);
         });
    rows(what + "collective ", a_.collectives(), b_.collectives(), s,
         [&](const std::string& w, const CollectiveRow& x, const CollectiveRow& y) {
           same_text(w + "name", x.collective, y.collective);
           same_text(w + "dtype", x.dtype, y.dtype);
           same_text(w + "group", x.group, y.group);
           same_text(w + "description", x.group_description, y.group_description);
           same_text(w + "ranks", x.group_ranks, y.group_ranks);
           same(w + "in", x.in_elements, y.in_elements);
           same(w + "out", x.out_elements, y.out_elements);
           same(w + "size", x.group_size, y.group_size);
           same(w + "sequence", x.sequence, y.sequence);
         });
    rows(what + "category ", a_.categories(), b_.categories(), s,
         [&](const std::string& w, StringId x, StringId y) { same_text(w, x, y); });
  }

  void compare_links(const std::string& what, const Links& a, const Links& b) {
    same(what, a.size(), b.size());
    for (std::size_t i = 0; found_.empty() && i < a.size(); ++i) {
      same(what + " from", a.from(i).value, b.from(i).value);
      same(what + " to", a.to(i).value, b.to(i).value);
    }
  }

  void compare_points() {
    same("markers", a_.markers().size(), b_.markers().size());
    for (std::size_t i = 0; found_.empty() && i < a_.markers().size(); ++i) {
      const Marker& x = a_.markers()[i];
      const Marker& y = b_.markers()[i];
      same("marker time", x.time, y.time);
      same_text("marker name", x.name, y.name);
      same("marker scope", x.scope, y.scope);
      same_track("marker", x.track, y.track);
      if (!options_.arguments) continue;
      same_text("marker category", x.category, y.category);
      same("marker arguments", arguments_text(a_, a_.marker_arguments(), MarkerId(i)),
           arguments_text(b_, b_.marker_arguments(), MarkerId(i)));
    }
    same("counters", a_.counters().size(), b_.counters().size());
    for (std::size_t i = 0; found_.empty() && i < a_.counters().size(); ++i) {
      const CounterValue& x = a_.counters()[i];
      const CounterValue& y = b_.counters()[i];
      same("counter time", x.time, y.time);
      same_text("counter name", x.counter, y.counter);
      same_text("counter series", x.series, y.series);
      same("counter value", x.value, y.value);
      same_track("counter", x.track, y.track);
    }
    same("allocations", a_.allocations().size(), b_.allocations().size());
    for (std::size_t i = 0; found_.empty() && i < a_.allocations().size(); ++i) {
      const Allocation& x = a_.allocations()[i];
      const Allocation& y = b_.allocations()[i];
      same("allocation time", x.time, y.time);
      same("allocation address", x.address, y.address);
      same("allocation bytes", x.bytes, y.bytes);
      same("allocation total", x.total_allocated, y.total_allocated);
      same("allocation reserved", x.total_reserved, y.total_reserved);
      same("allocation device type", x.device_type, y.device_type);
      same("allocation device", x.device, y.device);
      same("allocation failed", x.out_of_memory, y.out_of_memory);
      same_track("allocation", x.track, y.track);
    }
  }

  static std::string stack_text(const Trace& trace, StackId stack) {
    std::string out;
    for (; stack.index() < trace.stacks().size(); stack = trace.stacks()[stack.index()].caller) {
      const StackFrame& frame = trace.stacks()[stack.index()];
      out +=
          std::string(trace.text(frame.function)) + "@" + std::string(trace.text(frame.file)) + ";";
    }
    return out;
  }

  void compare_samples() {
    same("samples", a_.samples().size(), b_.samples().size());
    for (std::size_t i = 0; found_.empty() && i < a_.samples().size(); ++i) {
      const Sample& x = a_.samples()[i];
      const Sample& y = b_.samples()[i];
      same("sample time", x.time, y.time);
      same("sample weight", x.weight, y.weight);
      same("sample stack", stack_text(a_, x.stack), stack_text(b_, y.stack));
      same_track("sample", x.track, y.track);
    }
  }

  const Trace& a_;
  const Trace& b_;
  SameOptions options_;
  std::string found_;
};

inline std::string difference(const Trace& a, const Trace& b, SameOptions options = {}) {
  return TraceComparison(a, b, options).difference();
}

}  // namespace sonde::test
