#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/taken.hpp"
#include "trace/trace.hpp"

namespace sonde {

class Selection;

// Fills the columns of one Trace. An importer appends in the order of its file, in the file's own
// time; then nest() finds parents and depths, the importer adds links, and finish() hands out the
// Trace. Not for use from several threads at once.
class TraceBuilder {
 public:
  StringPool& strings() { return trace_.strings_; }
  StringId intern(std::string_view text) { return trace_.strings_.intern(text); }
  std::string_view text(StringId id) const { return trace_.strings_.view(id); }
  TraceMeta& meta() { return trace_.meta_; }
  LossLedger& losses() { return trace_.losses_; }

  // For readers that keep only what a selection takes: they ask takes() before they add. Without a
  // selection everything is taken.
  void select(Selection* selection);
  Selection* selection() const { return selection_; }
  Taken takes(Nanos start, Nanos duration, TrackId track, SliceKind kind, const SliceIds& ids,
              std::string_view name);
  bool takes(Point point, Nanos time);
  // The file's own time at which the whole trace begins: after nest().
  Nanos whole_origin() const;

  TrackId add_track(const Track& track);
  Track& track(TrackId id) { return trace_.tracks_[id.index()]; }
  std::size_t track_count() const { return trace_.tracks_.size(); }

  // `start` and `duration` in nanoseconds of the file's own clock; a negative duration and times
  // beyond kMaxTime are the importer's to mend. Ids run from 0 without gaps.
  SliceId add_slice(Nanos start, Nanos duration, TrackId track, StringId name, SliceKind kind);
  std::size_t slice_count() const { return trace_.slices_.size(); }
  // Before a batch of at most that many slices and rows: `done` (0 … 1, 0 where unknown) is the
  // part of the input that is read.
  void make_room(std::size_t slices, std::size_t operators, std::size_t launches,
                 std::size_t device_work, double done);
  void set_duration(SliceId slice, Nanos duration) {
    trace_.slices_.duration_[slice.index()] = duration;
  }
  void set_name(SliceId slice, StringId name) { trace_.slices_.name_[slice.index()] = name; }
  const SliceColumns& slices() const { return trace_.slices_; }

  // Rows go to the slice that was added last, or to a later one than every row before.
  void add_operator(SliceId slice, const OperatorRow& row) { trace_.operators_.append(slice, row); }
  void add_launch(SliceId slice, const LaunchRow& row) { trace_.launches_.append(slice, row); }
  void add_device_work(SliceId slice, const DeviceRow& row) {
    trace_.device_work_.append(slice, row);
  }
  void add_python(SliceId slice, const PythonRow& row) { trace_.python_.append(slice, row); }
  void add_collective(SliceId slice, const CollectiveRow& row) {
    trace_.collectives_.append(slice, row);
  }
  void add_category(SliceId slice, StringId category) {
    trace_.categories_.append(slice, category);
  }
  void add_place(SliceId slice, StackId place) { trace_.places_.append(slice, place); }
  void add_argument(const SliceArg& argument) { trace_.arguments_.append(argument); }
  ArgumentSetId intern_arguments(std::span<const SetArg> list) {
    return trace_.shared_arguments_.intern(list);
  }
  void share_arguments(SliceId slice, ArgumentSetId set) {
    trace_.shared_arguments_.append(slice, set);
  }
  // As make_room(), for the arguments of slices.
  void make_argument_room(std::size_t own, std::size_t shared, double done) {
    trace_.arguments_.make_room(own, done);
    trace_.shared_arguments_.make_room(shared, done);
  }
  void add_argument(const MarkerArg& argument) { trace_.marker_arguments_.append(argument); }
  void add_argument(const CounterArg& argument) { trace_.counter_arguments_.append(argument); }
  InputsId intern_inputs(const OperatorInputs& inputs);
  const SideTable<OperatorRow>& operators() const { return trace_.operators_; }
  const SideTable<LaunchRow>& launches() const { return trace_.launches_; }
  const SideTable<DeviceRow>& device_work() const { return trace_.device_work_; }

  MarkerId add_marker(const Marker& marker) {
    trace_.markers_.push_back(marker);
    return MarkerId(trace_.markers_.size() - 1);
  }
  CounterId add_counter(const CounterValue& value) {
    trace_.counters_.push_back(value);
    return CounterId(trace_.counters_.size() - 1);
  }
  const std::vector<CounterValue>& counters() const { return trace_.counters_; }
  void add_allocation(const Allocation& allocation) { trace_.allocations_.push_back(allocation); }
  const std::vector<Allocation>& allocations() const { return trace_.allocations_; }
  void add_sample(const Sample& sample) { trace_.samples_.push_back(sample); }
  std::uint32_t add_sample_type(const SampleType& type) {
    trace_.sample_types_.push_back(type);
    return static_cast<std::uint32_t>(trace_.sample_types_.size() - 1);
  }
  StackId intern_stack(const StackFrame& frame);
  CallProfile& call_profile() { return trace_.call_profile_; }
  ProcessMemory& process_memory() { return trace_.process_memory_; }
  SourceListing& source_listing() { return trace_.source_listing_; }

  // Moves times to the trace's origin, seals the side tables and finds each slice's parent and
  // depth, the tracks split over `threads`. After it no slice, row or instant may be added.
  void nest(unsigned threads);

  void add_launch_link(SliceId launch, SliceId device) {
    trace_.launch_to_device_.add(launch, device);
  }
  void add_operator_link(SliceId op, SliceId launch) { trace_.operator_to_launch_.add(op, launch); }
  void add_backward_link(SliceId forward, SliceId backward) {
    trace_.forward_to_backward_.add(forward, backward);
  }
  void add_flow_link(SliceId from, SliceId to) { trace_.flows_.add(from, to); }

  Trace finish();

 private:
  void rebase();

  Trace trace_;
  Selection* selection_ = nullptr;
  FlatMap<std::uint32_t> input_ids_;
  FlatMap<std::uint32_t> stack_ids_;
};

}  // namespace sonde
