#include "trace/copier.hpp"

#include <algorithm>

namespace sonde {

TraceCopier::TraceCopier(const Trace& from, const TraceFilter& filter, TraceBuilder& to,
                         Changes changes)
    : from_(from),
      filter_(filter),
      to_(to),
      changes_(std::move(changes)),
      strings_(from.strings().size()),
      tracks_(from.tracks().size()),
      stacks_(from.stacks().size()),
      slices_(from.slice_count()),
      argument_sets_(from.shared_arguments().size()) {}

bool TraceCopier::in_windows(Nanos start, Nanos end) const {
  if (filter_.windows.empty()) return true;
  return std::any_of(filter_.windows.begin(), filter_.windows.end(),
                     [&](const TraceFilter::Window& window) {
                       // A slice without a length is in where it begins.
                       return start < window.to && (end > window.from || start >= window.from);
                     });
}

bool TraceCopier::takes(SliceId slice) const {
  const SliceColumns& slices = from_.slices();
  if (filter_.kinds.any() && !filter_.kinds[static_cast<std::size_t>(slices.kind(slice))])
    return false;
  if (filter_.device_work_by_launch && is_device_work(slices.kind(slice))) {
    const SliceId launch = from_.launch_to_device().source(slice);
    if (launch.valid()) return in_windows(slices.start(launch), slices.end(launch));
  }
  return in_windows(slices.start(slice), slices.end(slice));
}

StringId TraceCopier::string(StringId id) {
  if (id.index() >= strings_.size()) return {};
  StringId& known = strings_[id.index()];
  if (!known.valid()) known = to_.intern(from_.text(id));
  return known;
}

TrackId TraceCopier::track(TrackId id) {
  TrackId& known = tracks_[id.index()];
  if (known.valid()) return known;
  Track copy = from_.track(id);
  copy.slices = 0;
  copy.process = string(copy.process);
  copy.labels = string(copy.labels);
  copy.name = string(copy.name);
  if (!changes_.label.empty()) {
    const std::string_view process = to_.text(copy.process);
    copy.process =
        to_.intern(process.empty() ? changes_.label : changes_.label + ": " + std::string(process));
  }
  return known = to_.add_track(copy);
}

StackId TraceCopier::stack(StackId id) {
  std::vector<StackId> way;
  StackId caller;
  for (; id.index() < stacks_.size(); id = from_.stacks()[id.index()].caller) {
    if (stacks_[id.index()].valid()) {
      caller = stacks_[id.index()];
      break;
    }
    way.push_back(id);
  }
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    const StackFrame& frame = from_.stacks()[at->index()];
    caller = to_.intern_stack({caller, string(frame.function), string(frame.file), frame.line});
    stacks_[at->index()] = caller;
  }
  return caller;
}

template <class Owner, class Other>
Argument<Other> TraceCopier::translated(const Argument<Owner>& argument, Other owner) {
  const StringId key = string(argument.key());
  switch (argument.type()) {
    case ArgType::Integer:
      return {owner, key, argument.integer()};
    case ArgType::Real:
      return {owner, key, argument.real()};
    default:
      return {owner, key, string(argument.text()), argument.type()};
  }
}

template <class Owner>
void TraceCopier::copy_arguments(const Arguments<Owner>& arguments, Owner from, Owner to) {
  if (arguments.empty()) return;
  for (const Argument<Owner>& argument : arguments.of(from))
    to_.add_argument(translated(argument, to));
}

// The builder's set with what `slice` shares; each set is carried over once.
ArgumentSetId TraceCopier::argument_set(SliceId slice) {
  const ArgumentSetId set = from_.shared_arguments().set_of(slice);
  if (!set.valid()) return {};
  ArgumentSetId& known = argument_sets_[set.index()];
  if (known.valid()) return known;
  std::vector<SetArg> list;
  for (const SetArg& argument : from_.shared_arguments().of(slice))
    list.push_back(translated(argument, ArgumentSetId()));
  return known = to_.intern_arguments(list);
}

void TraceCopier::copy_rows(SliceId from, SliceId to) {
  if (const OperatorRow* row = from_.operators().find(from)) {
    OperatorRow copy = *row;
    if (row->inputs.valid()) {
      const OperatorInputs& in = from_.inputs(row->inputs);
      copy.inputs = to_.intern_inputs(
          {string(in.shapes), string(in.types), string(in.strides), string(in.concrete)});
    }
    copy.external_id = moved(row->external_id);
    copy.stack = string(row->stack);
    copy.module = string(row->module);
    to_.add_operator(to, copy);
  }
  if (const LaunchRow* row = from_.launches().find(from))
    to_.add_launch(to, {moved(row->correlation), moved(row->external_id), row->cbid});
  if (const DeviceRow* row = from_.device_work().find(from)) {
    DeviceRow copy = *row;
    copy.correlation = moved(row->correlation);
    copy.external_id = moved(row->external_id);
    to_.add_device_work(to, copy);
  }
  if (const PythonRow* row = from_.python().find(from)) to_.add_python(to, *row);
  if (const CollectiveRow* row = from_.collectives().find(from)) {
    CollectiveRow copy = *row;
    copy.collective = string(row->collective);
    copy.dtype = string(row->dtype);
    copy.group = string(row->group);
    copy.group_description = string(row->group_description);
    copy.group_ranks = string(row->group_ranks);
    to_.add_collective(to, copy);
  }
  if (const StringId* category = from_.categories().find(from))
    to_.add_category(to, string(*category));
  if (const StackId* place = from_.places().find(from)) to_.add_place(to, stack(*place));
  copy_arguments(from_.arguments(), from, to);
  if (const ArgumentSetId set = argument_set(from); set.valid()) to_.share_arguments(to, set);
}

void TraceCopier::copy_slices() {
  const SliceColumns& slices = from_.slices();
  // A trace that is taken whole keeps its tracks, also those on which nothing lies.
  if (filter_.takes_all()) {
    for (const TrackId id : all_tracks(from_)) track(id);
  }
  for (const SliceId slice : all_slices(from_)) {
    if (!takes(slice)) continue;
    const SliceId copy =
        to_.add_slice(slices.start(slice) + changes_.shift, slices.duration(slice),
                      track(slices.track(slice)), string(slices.name(slice)), slices.kind(slice));
    slices_[slice.index()] = copy;
    copy_rows(slice, copy);
  }
}

void TraceCopier::copy_points() {
  for (std::size_t i = 0; filter_.markers && i < from_.markers().size(); ++i) {
    Marker copy = from_.markers()[i];
    if (!in_windows(copy.time, copy.time)) continue;
    copy.time += changes_.shift;
    copy.track = track(copy.track);
    copy.name = string(copy.name);
    copy.category = string(copy.category);
    copy_arguments(from_.marker_arguments(), MarkerId(i), to_.add_marker(copy));
  }
  for (std::size_t i = 0; filter_.counters && i < from_.counters().size(); ++i) {
    CounterValue copy = from_.counters()[i];
    if (!in_windows(copy.time, copy.time)) continue;
    copy.time += changes_.shift;
    copy.track = track(copy.track);
    copy.counter = string(copy.counter);
    copy.series = string(copy.series);
    copy_arguments(from_.counter_arguments(), CounterId(i), to_.add_counter(copy));
  }
  for (std::size_t i = 0; filter_.allocations && i < from_.allocations().size(); ++i) {
    Allocation copy = from_.allocations()[i];
    if (!in_windows(copy.time, copy.time)) continue;
    copy.time += changes_.shift;
    copy.track = track(copy.track);
    copy.pool = string(copy.pool);
    copy.tag = string(copy.tag);
    copy.stack = stack(copy.stack);
    to_.add_allocation(copy);
  }
  if (!filter_.samples || from_.samples().empty()) return;
  for (const SampleType& type : from_.sample_types()) {
    sample_types_.push_back(sample_type({string(type.name), string(type.unit), type.timed}));
  }
  for (const Sample& sample : from_.samples()) {
    if (!in_windows(sample.time, sample.time)) continue;
    Sample copy = sample;
    copy.time += changes_.shift;
    copy.track = track(sample.track);
    copy.stack = stack(sample.stack);
    if (sample.type < sample_types_.size()) copy.type = sample_types_[sample.type];
    to_.add_sample(copy);
  }
}

// The same type of several traces is one.
std::uint32_t TraceCopier::sample_type(const SampleType& type) {
  std::vector<SampleType>* const known = changes_.sample_types;
  if (known == nullptr) return to_.add_sample_type(type);
  for (std::size_t i = 0; i < known->size(); ++i) {
    const SampleType& other = (*known)[i];
    if (other.name == type.name && other.unit == type.unit && other.timed == type.timed) {
      return static_cast<std::uint32_t>(i);
    }
  }
  known->push_back(type);
  return to_.add_sample_type(type);
}

void TraceCopier::copy_source_listing() {
  if (!filter_.windows.empty() || !to_.source_listing().empty()) return;
  SourceListing copy = from_.source_listing();
  copy.command = string(copy.command);
  for (SourceListing::File& file : copy.files) {
    file.name = string(file.name);
    for (SourceListing::Row& row : file.rows) row.text = string(row.text);
  }
  to_.source_listing() = std::move(copy);
}

void TraceCopier::copy_links_of(const Links& links, void (TraceBuilder::*add)(SliceId, SliceId)) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const SliceId from = slices_[links.from(i).index()];
    const SliceId to = slices_[links.to(i).index()];
    if (from.valid() && to.valid()) (to_.*add)(from, to);
  }
}

void TraceCopier::copy_links() {
  copy_links_of(from_.launch_to_device(), &TraceBuilder::add_launch_link);
  copy_links_of(from_.operator_to_launch(), &TraceBuilder::add_operator_link);
  copy_links_of(from_.forward_to_backward(), &TraceBuilder::add_backward_link);
  copy_links_of(from_.flows(), &TraceBuilder::add_flow_link);
}

}  // namespace sonde
