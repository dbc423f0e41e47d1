#include "import/perfetto/event_store.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <tuple>

#include "import/perfetto/known_arguments.hpp"

namespace sonde::perfetto_import {
namespace {

template <class Owner>
Argument<Owner> owned(Owner owner, const PendingArgument& argument) {
  switch (argument.type) {
    case ArgType::Integer:
      return {owner, argument.key, std::bit_cast<std::int64_t>(argument.bits)};
    case ArgType::Real:
      return {owner, argument.key, std::bit_cast<double>(argument.bits)};
    default:
      return {owner, argument.key, StringId(static_cast<std::uint32_t>(argument.bits)),
              argument.type};
  }
}

}  // namespace

void EventStore::begin_slice(const Event& event) {
  if (selection_ != nullptr) return follow_begin(event);
  const auto number = static_cast<std::uint32_t>(begins_.size());
  const TrackId track = tracks_.track(event.track);
  begins_.push_back({event.time, 0, track, event.name, event.category, event.stack});
  halves_.push_back({event.time, track, number, kNone});
  for (const PendingArgument& argument : event.arguments) arguments_.push_back({number, argument});
  for (const Flow& flow : event.flows) {
    flows_.push_back(
        {flow.id, event.time, number, static_cast<std::uint32_t>(flows_.size()), flow.ends});
  }
}

void EventStore::end_slice(const Event& event) {
  if (selection_ != nullptr) return follow_end(event);
  std::uint32_t end = kNone;
  if (!event.arguments.empty() || !event.flows.empty()) {
    end = static_cast<std::uint32_t>(ends_.size());
    ends_.push_back({static_cast<std::uint32_t>(end_arguments_.size()),
                     static_cast<std::uint32_t>(event.arguments.size()),
                     static_cast<std::uint32_t>(end_flows_.size()),
                     static_cast<std::uint32_t>(event.flows.size())});
    end_arguments_.insert(end_arguments_.end(), event.arguments.begin(), event.arguments.end());
    end_flows_.insert(end_flows_.end(), event.flows.begin(), event.flows.end());
  }
  halves_.push_back({event.time, tracks_.track(event.track), kNone, end});
}

bool EventStore::take_allocation(const Event& event) {
  const std::string_view name = builder_.text(event.name);
  const bool out_of_memory = name == "[OutOfMemory]";
  if ((!out_of_memory && name != "[memory]") || !event.category.valid() ||
      builder_.text(event.category) != "memory") {
    return false;
  }
  Allocation allocation;
  bool has_bytes = false;
  for (const PendingArgument& argument : event.arguments) {
    const std::string_view key = builder_.text(argument.key);
    if (argument.type == ArgType::Text) {
      const StringId text(static_cast<std::uint32_t>(argument.bits));
      if (key == "pool") allocation.pool = text;
      if (key == "tag") allocation.tag = text;
    }
    if (argument.type != ArgType::Integer) continue;
    const auto number = std::bit_cast<std::int64_t>(argument.bits);
    const bool small = number >= -1 && number <= INT32_MAX;
    if (key == "Bytes") {
      allocation.bytes = number;
      has_bytes = true;
    } else if (key == "Addr") {
      allocation.address = argument.bits;
    } else if (key == "Total Allocated") {
      allocation.total_allocated = number;
    } else if (key == "Total Reserved") {
      allocation.total_reserved = number;
    } else if (key == "Device Id" && small) {
      allocation.device = static_cast<std::int32_t>(number);
    } else if (key == "Device Type" && small) {
      allocation.device_type = static_cast<std::int32_t>(number);
    }
  }
  if (!has_bytes) return false;
  allocation.time = event.time;
  allocation.track = tracks_.track(event.track);
  allocation.out_of_memory = out_of_memory;
  allocation.stack = event.frames;
  if (builder_.takes(Point::Allocation, event.time)) builder_.add_allocation(allocation);
  builder_.meta().profile_memory = true;
  has_allocations_ = true;
  return true;
}

bool EventStore::take_sample(const Event& event) {
  if (!event.category.valid() || builder_.text(event.category) != "sample") return false;
  const auto is = [&](const PendingArgument& argument, ArgType type, std::string_view key) {
    return argument.type == type && builder_.text(argument.key) == key;
  };
  const bool weighed = std::any_of(
      event.arguments.begin(), event.arguments.end(),
      [&](const PendingArgument& argument) { return is(argument, ArgType::Real, "weight"); });
  if (!event.frames.valid() && !weighed) return false;
  const auto [type, added] = sample_types_.try_emplace(event.name);
  if (added) {
    SampleType fresh{event.name, builder_.intern("")};
    for (const PendingArgument& argument : event.arguments) {
      if (is(argument, ArgType::Text, "unit"))
        fresh.unit = StringId(static_cast<std::uint32_t>(argument.bits));
      if (is(argument, ArgType::Integer, "timed")) fresh.timed = argument.bits != 0;
    }
    type->second = builder_.add_sample_type(fresh);
  }
  Sample sample;
  sample.time = event.time;
  sample.track = tracks_.track(event.track);
  sample.stack = event.frames;
  sample.type = type->second;
  for (const PendingArgument& argument : event.arguments) {
    const double weight = std::bit_cast<double>(argument.bits);
    const bool usable = weight > -1e300 && weight < 1e300;
    if (is(argument, ArgType::Real, "weight") && usable) sample.weight = weight;
  }
  if (builder_.takes(Point::Sample, event.time)) builder_.add_sample(sample);
  return true;
}

void EventStore::add_instant(const Event& event) {
  if (take_allocation(event) || take_sample(event)) return;
  Marker marker;
  marker.time = event.time;
  marker.track = tracks_.track(event.track);
  marker.name = event.name;
  marker.category = event.category;
  marker.scope = tracks_.scope(event.track);
  builder_.losses().add("flows_of_instants", Severity::Info,
                        "Arrows from or to instants; Sonde draws arrows between slices only.",
                        event.flows.size());
  if (!builder_.takes(Point::Marker, event.time)) return;
  const MarkerId id = builder_.add_marker(marker);
  for (const PendingArgument& argument : event.arguments) {
    builder_.add_argument(owned(id, argument));
  }
  if (event.stack.valid()) {
    builder_.add_argument(MarkerArg(id, builder_.intern("Call stack"), event.stack));
  }
}

void EventStore::add_counter(const Event& event, std::uint64_t uuid, double value) {
  Descriptor& descriptor = tracks_.at(uuid);
  // The running total of the allocations before it, which have it already.
  if (has_allocations_ && descriptor.name.valid() &&
      builder_.text(descriptor.name).starts_with("allocated, ")) {
    return;
  }
  value *= static_cast<double>(descriptor.multiplier);
  if (descriptor.incremental) {
    descriptor.total += value;
    value = descriptor.total;
  }
  if (!(value >= -1e300 && value <= 1e300)) {
    builder_.losses().add("odd_counter_values", Severity::Warning,
                          "Counter values that are no finite number; they are left out.");
    return;
  }
  CounterValue counter;
  counter.time = event.time;
  counter.track = tracks_.track(uuid);
  counter.counter = descriptor.name.valid() ? descriptor.name : builder_.intern("counter");
  if (descriptor.stated == Descriptor::Stated::Counter) {
    counter.counter = descriptor.counter_name;
    counter.series = descriptor.counter_series;
  }
  counter.value = value;
  if (!builder_.takes(Point::Counter, event.time)) return;
  const CounterId id = builder_.add_counter(counter);
  for (const PendingArgument& argument : event.arguments) {
    builder_.add_argument(owned(id, argument));
  }
}

// An end closes the innermost open slice of its track, in the order of time.
void EventStore::pair_halves() {
  std::stable_sort(halves_.begin(), halves_.end(), [](const Half& a, const Half& b) {
    return std::tie(a.track, a.time) < std::tie(b.track, b.time);
  });
  std::vector<std::uint32_t> open;
  std::uint64_t without_begin = 0;
  std::uint64_t without_end = 0;
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    const Half& half = halves_[i];
    if (half.begin != kNone) {
      open.push_back(half.begin);
    } else if (open.empty()) {
      ++without_begin;
    } else {
      const std::uint32_t number = open.back();
      open.pop_back();
      begins_[number].duration = std::min(half.time - begins_[number].start, kMaxDuration);
      if (half.end != kNone) {
        const EndArguments& end = ends_[half.end];
        for (std::uint32_t a = 0; a < end.count; ++a) {
          arguments_.push_back({number, end_arguments_[end.first + a]});
        }
        for (std::uint32_t f = 0; f < end.flow_count; ++f) {
          const Flow& flow = end_flows_[end.first_flow + f];
          flows_.push_back(
              {flow.id, half.time, number, static_cast<std::uint32_t>(flows_.size()), flow.ends});
        }
      }
    }
    if (i + 1 == halves_.size() || halves_[i + 1].track != half.track) {
      for (const std::uint32_t number : open) {
        begins_[number].duration = std::min(half.time - begins_[number].start, kMaxDuration);
      }
      without_end += open.size();
      open.clear();
    }
  }
  builder_.losses().add("end_without_begin", Severity::Warning,
                        "Ends of slices whose begin is not in the file; they are passed over.",
                        without_begin);
  builder_.losses().add("begin_without_end", Severity::Info,
                        "Slices that nothing ends; they reach to the last event of their track.",
                        without_end);
  halves_ = {};
  std::stable_sort(
      arguments_.begin(), arguments_.end(),
      [](const OwnedArgument& a, const OwnedArgument& b) { return a.owner < b.owner; });
}

SliceKind EventStore::take_kind(Begin& begin) {
  std::string_view category =
      begin.category.valid() ? builder_.text(begin.category) : std::string_view();
  const std::optional<SliceKind> own = take_own_kind(category);
  if (!own) return kind_of(category, builder_.text(begin.name));
  begin.category = category.empty() ? StringId() : builder_.intern(std::string(category));
  return *own;
}

void EventStore::add_slices() {
  std::vector<bool> has_device_work(builder_.track_count());
  const std::vector<TrackId> homes = tracks_.home_tracks();
  for (Begin& begin : begins_) begin.track = homes[begin.track.index()];
  std::vector<SliceKind> kinds(begins_.size());
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    kinds[i] = take_kind(begins_[i]);
    if (is_device_work(kinds[i])) has_device_work[begins_[i].track.index()] = true;
  }
  std::vector<std::int64_t> correlations(begins_.size(), kNoNumber);
  std::int64_t next_correlation = 1;
  for (const OwnedArgument& owned : arguments_) {
    const std::string_view key = builder_.text(owned.argument.key);
    if (owned.argument.type != ArgType::Integer || (key != "correlation" && key != "corr_id")) {
      continue;
    }
    const auto value = std::bit_cast<std::int64_t>(owned.argument.bits);
    correlations[owned.owner] = value;
    if (value >= next_correlation && value < INT64_MAX) next_correlation = value + 1;
  }
  // An arrow from a call to device work is what a correlation id says elsewhere.
  std::vector<Arrow> plain_arrows;
  for (auto [from, to, sort] : arrows_) {
    if (sort != Sort::Unknown) {
      plain_arrows.push_back({from, to, sort});
      continue;
    }
    if (is_device_work(kinds[from]) && is_launch_call(kinds[to])) std::swap(from, to);
    if (is_launch_call(kinds[from]) && is_device_work(kinds[to])) {
      if (correlations[from] == kNoNumber && next_correlation < INT64_MAX) {
        correlations[from] = next_correlation++;
      }
      if (correlations[to] == kNoNumber) correlations[to] = correlations[from];
    } else {
      plain_arrows.push_back({from, to, Sort::Plain});
    }
  }
  arrows_ = std::move(plain_arrows);

  tracks_.finish(has_device_work);
  std::size_t next_argument = 0;
  std::vector<PendingArgument> own;
  for (std::uint32_t i = 0; i < begins_.size(); ++i) {
    own.clear();
    for (; next_argument < arguments_.size() && arguments_[next_argument].owner == i;
         ++next_argument)
      own.push_back(arguments_[next_argument].argument);
    add_slice(begins_[i], kinds[i], own, correlations[i]);
  }
  arguments_ = {};
}

void EventStore::add_slice(const Begin& begin, SliceKind kind,
                           std::span<const PendingArgument> arguments, std::int64_t correlation) {
  const SliceId slice =
      builder_.add_slice(begin.start, begin.duration, begin.track, begin.name, kind);
  SliceRows rows;
  for (const PendingArgument& argument : arguments) {
    if (!rows.take(kind, argument, builder_)) builder_.add_argument(owned(slice, argument));
  }
  if (begin.stack.valid() && is_host_operator(kind) && !rows.op.stack.valid()) {
    rows.op.stack = begin.stack;
    rows.has_op = true;
  } else if (begin.stack.valid()) {
    builder_.add_argument({slice, builder_.intern("Call stack"), begin.stack});
  }
  if (is_host_operator(kind) || kind == SliceKind::Step) {
    if (rows.inputs != OperatorInputs()) rows.op.inputs = builder_.intern_inputs(rows.inputs);
    const std::string_view category =
        begin.category.valid() ? builder_.text(begin.category) : std::string_view();
    rows.op.is_annotation = kind == SliceKind::UserRange || category == "user_annotation";
    builder_.add_operator(slice, rows.op);
  }
  if (is_launch_call(kind) || kind == SliceKind::Sync) {
    if (rows.launch.correlation == kNoNumber) rows.launch.correlation = correlation;
    builder_.add_launch(slice, rows.launch);
  }
  if (is_device_work(kind) || kind == SliceKind::DeviceRange) {
    if (rows.device.correlation == kNoNumber) rows.device.correlation = correlation;
    Track& track = builder_.track(begin.track);
    if (!tracks_.is_stated(begin.track)) {
      if (track.device < 0) track.device = rows.device.device;
      if (rows.device.device < 0) rows.device.device = track.device;
      if (rows.device.stream == kNoNumber) rows.device.stream = track.tid;
    }
    builder_.add_device_work(slice, rows.device);
  }
  if (rows.has_python) builder_.add_python(slice, rows.python);
  if (rows.has_collective) builder_.add_collective(slice, rows.collective);
  if (begin.category.valid()) builder_.add_category(slice, begin.category);
}

void EventStore::finish(unsigned threads) {
  if (selection_ != nullptr) {
    close_followed();
    draw_flows();
    add_closed_slices();
  } else {
    pair_halves();
    draw_flows();
    add_slices();
  }
  begins_ = {};
  builder_.nest(threads);
  add_links();
}

}  // namespace sonde::perfetto_import
