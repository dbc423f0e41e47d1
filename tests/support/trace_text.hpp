#pragma once

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "export/categories.hpp"
#include "trace/trace.hpp"

namespace sonde::test {

// A trace as lines of text that do not depend on the numbers of slices, tracks, strings and stacks:
// equal lines mean equal traces as far as a round trip through Perfetto's format can keep them.
// Not in the lines, since the format has no place for it:
//   - the order of slices of different tracks (a file has them track by track),
//   - tracks on which nothing lies,
//   - the thread of a marker for a whole process, and all of the place of a global one,
//   - the thread of a counter: a counter belongs to its process,
//   - operator -> launch links, which readers find again by ids and nesting,
//   - call profiles and what the head of the file says of devices, ranks and versions.
// Written differently, and the same in these lines:
//   - a slice without a category gets the word of its kind,
//   - user ranges are annotations of operators' rows,
//   - JSON that is none is a text,
//   - of several arguments with one key the first counts.
class TraceText {
 public:
  explicit TraceText(const Trace& trace) : trace_(trace), words_(trace) {}

  std::vector<std::string> lines() {
    const TraceMeta& meta = trace_.meta();
    add("origin", meta.origin);
    add("wall clock", meta.wall_clock ? meta.base_time : 0);
    add("end", trace_.span_end());
    finish();
    std::vector<std::string> slices;
    for (const SliceId slice : all_slices(trace_)) {
      slice_line(slice);
      slices.push_back(std::move(line_));
      line_.clear();
    }
    std::sort(slices.begin(), slices.end());
    lines_.insert(lines_.end(), slices.begin(), slices.end());
    points();
    samples();
    return std::move(lines_);
  }

  // All arguments of a slice, own and shared ones, by key.
  std::string arguments(SliceId slice) {
    std::vector<std::string> all;
    std::set<StringId> keys;
    for_each_argument(trace_, slice, [&](const auto& argument) {
      if (keys.insert(argument.key()).second) all.push_back(argument_text(argument));
    });
    std::sort(all.begin(), all.end());
    std::string out;
    for (const std::string& one : all) out += one;
    return out;
  }

 private:
  static std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  void add(const char* key, std::int64_t value) {
    if (value != kNoNumber) line_ += std::string(" ") + key + "=" + std::to_string(value);
  }
  void add_small(const char* key, std::int64_t value) {
    if (value != -1) add(key, value);
  }
  void add_real(const char* key, double value) { line_ += std::string(" ") + key + number(value); }
  void add_text(const char* key, StringId id) {
    const std::string_view text = trace_.text(id);
    if (!text.empty()) line_ += std::string(" ") + key + "='" + std::string(text) + "'";
  }
  void finish() {
    lines_.push_back(std::move(line_));
    line_.clear();
  }

  template <class Owner>
  std::string argument_text(const Argument<Owner>& argument) const {
    std::string out = " {" + std::string(trace_.text(argument.key())) + "}=";
    if (argument.type() == ArgType::Integer) return out + std::to_string(argument.integer());
    if (argument.type() == ArgType::Real) return out + "r" + number(argument.real());
    return out + (argument.type() == ArgType::Json ? "j" : "t") +
           std::string(trace_.text(argument.text()));
  }
  template <class Owner>
  void add_arguments(const Arguments<Owner>& all, Owner owner) {
    for (const Argument<Owner>& argument : all.of(owner)) line_ += argument_text(argument);
  }

  void add_process(TrackId id) {
    const Track& track = trace_.track(id);
    add("pid", track.pid);
    add_text("process", track.process);
    add_text("labels", track.labels);
  }
  void add_track(TrackId id) {
    const Track& track = trace_.track(id);
    add("track", static_cast<int>(track.type));
    add_process(id);
    add("tid", track.tid);
    add_small("device", track.device);
    add("sort", track.sort_index);
    add_text("name", track.name);
  }

  std::string key(SliceId slice) {
    std::string kept = std::move(line_);
    line_.clear();
    const SliceColumns& slices = trace_.slices();
    add_track(slices.track(slice));
    add("start", slices.start(slice));
    add("dur", slices.duration(slice));
    add_text("slice", slices.name(slice));
    line_ += " " + std::string(kind_name(slices.kind(slice)));
    std::swap(kept, line_);
    return kept;
  }

  void add_source(const char* what, const Links& links, SliceId slice) {
    const SliceId from = links.source(slice);
    if (from.valid()) line_ += std::string(" <") + what + key(from) + ">";
  }

  std::string category(SliceId slice) const {
    if (const StringId* own = trace_.categories().find(slice); own && !trace_.text(*own).empty())
      return std::string(trace_.text(*own));
    std::string word(words_.of(slice));
    if (word.starts_with("sonde.")) return {};
    const bool user = trace_.slices().kind(slice) == SliceKind::UserRange;
    return word.empty() && user ? "user_annotation" : word;
  }

  void slice_line(SliceId slice) {
    const SliceColumns& slices = trace_.slices();
    line_ = key(slice);
    add("depth", slices.depth(slice));
    if (slices.parent(slice).valid()) line_ += " <in" + key(slices.parent(slice)) + ">";
    line_ += " category='" + category(slice) + "'";
    rows(slice);
    line_ += arguments(slice);
    add_source("launch", trace_.launch_to_device(), slice);
    add_source("forward", trace_.forward_to_backward(), slice);
    add_source("flow", trace_.flows(), slice);
  }

  void rows(SliceId slice) {
    if (const OperatorRow* row = trace_.operators().find(slice)) {
      add("external", row->external_id);
      add("sequence", row->sequence);
      add_small("forward_thread", row->forward_thread);
      add_small("order", row->order);
      add_text("stack", row->stack);
      add_text("module", row->module);
      const OperatorInputs& in = trace_.inputs(row->inputs);
      add_text("shapes", in.shapes);
      add_text("types", in.types);
      add_text("strides", in.strides);
      add_text("concrete", in.concrete);
      if (row->is_annotation && trace_.slices().kind(slice) != SliceKind::UserRange)
        line_ += " annotation";
    }
    if (const LaunchRow* row = trace_.launches().find(slice)) {
      add("correlation", row->correlation);
      add("external", row->external_id);
      add("cbid", row->cbid);
    }
    if (const DeviceRow* row = trace_.device_work().find(slice)) {
      add("correlation", row->correlation);
      add("external", row->external_id);
      add("stream", row->stream);
      add("bytes", row->bytes);
      add_small("context", row->context);
      add_small("device", row->device);
      add_small("registers", row->registers);
      add_small("shared", row->shared_memory);
      for (std::size_t i = 0; i < 3; ++i) {
        add_small("grid", row->grid[i]);
        add_small("block", row->block[i]);
      }
      for (const float value :
           {row->blocks_per_sm, row->warps_per_sm, row->occupancy, row->bandwidth})
        if (value >= 0) add_real("f", value);
    }
    if (const PythonRow* row = trace_.python().find(slice)) {
      add("python", row->id);
      add("python_parent", row->parent_id);
      add("python_module", row->module_id);
    }
    if (const CollectiveRow* row = trace_.collectives().find(slice)) {
      add_text("collective", row->collective);
      add_text("dtype", row->dtype);
      add_text("group", row->group);
      add_text("description", row->group_description);
      add_text("ranks", row->group_ranks);
      add("in", row->in_elements);
      add("out", row->out_elements);
      add("size", row->group_size);
      add("seq", row->sequence);
    }
  }

  void add_stack(StackId stack) {
    for (; stack.index() < trace_.stacks().size(); stack = trace_.stacks()[stack.index()].caller) {
      const StackFrame& frame = trace_.stacks()[stack.index()];
      line_ += " <" + std::string(trace_.text(frame.function)) + "@" +
               std::string(trace_.text(frame.file)) + ":" + std::to_string(frame.line) + ">";
    }
  }

  void points() {
    for (std::size_t i = 0; i < trace_.markers().size(); ++i) {
      const Marker& marker = trace_.markers()[i];
      add("marker", marker.time);
      add_text("name", marker.name);
      add_text("category", marker.category);
      line_ += std::string(" ") + marker.scope;
      if (marker.scope == 't') add_track(marker.track);
      if (marker.scope == 'p') add_process(marker.track);
      add_arguments(trace_.marker_arguments(), MarkerId(i));
      finish();
    }
    for (std::size_t i = 0; i < trace_.counters().size(); ++i) {
      const CounterValue& value = trace_.counters()[i];
      add("counter", value.time);
      add_process(value.track);
      add_text("name", value.counter);
      add_text("series", value.series);
      add_real("value", value.value);
      add_arguments(trace_.counter_arguments(), CounterId(i));
      finish();
    }
    for (const Allocation& allocation : trace_.allocations()) {
      add("allocation", allocation.time);
      add("address", static_cast<std::int64_t>(allocation.address));
      add("bytes", allocation.bytes);
      add("allocated", allocation.total_allocated);
      add("reserved", allocation.total_reserved);
      add("device_type", allocation.device_type);
      add("device", allocation.device);
      add("failed", allocation.out_of_memory);
      add_text("pool", allocation.pool);
      add_text("tag", allocation.tag);
      add_track(allocation.track);
      add_stack(allocation.stack);
      finish();
    }
  }

  void samples() {
    for (const Sample& sample : trace_.samples()) {
      add("sample", sample.time);
      add_track(sample.track);
      add_real("weight", sample.weight);
      if (sample.type < trace_.sample_types().size()) {
        const SampleType& type = trace_.sample_types()[sample.type];
        add_text("type", type.name);
        add_text("unit", type.unit);
        add("timed", type.timed);
      }
      add_stack(sample.stack);
      finish();
    }
  }

  const Trace& trace_;
  SliceCategories words_;
  std::string line_;
  std::vector<std::string> lines_;
};

// "" where the lines are the same, else the first of each side that the other does not have.
inline std::string text_difference(const Trace& a, const Trace& b) {
  std::vector<std::string> x = TraceText(a).lines();
  std::vector<std::string> y = TraceText(b).lines();
  if (x == y) return {};
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  std::vector<std::string> lost;
  std::vector<std::string> made_up;
  std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(lost));
  std::set_difference(y.begin(), y.end(), x.begin(), x.end(), std::back_inserter(made_up));
  if (lost.empty() && made_up.empty()) return "the order of points or samples";
  const auto first = [](const std::vector<std::string>& lines) {
    return lines.empty() ? "(nothing)" : lines[0];
  };
  return "\n  before:" + first(lost) + "\n  after: " + first(made_up);
}

}  // namespace sonde::test
