#include "trace/builder.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "trace/selection.hpp"

namespace sonde {
namespace {

// The slices of each track, in file order: offsets[t] … offsets[t + 1] of `members`.
struct TrackMembers {
  std::vector<std::uint32_t> offsets;
  std::vector<SliceId> members;
};

TrackMembers group_by_track(const LongVector<TrackId>& track_of, std::size_t tracks) {
  TrackMembers groups;
  groups.offsets.assign(tracks + 1, 0);
  for (const TrackId t : track_of) ++groups.offsets[t.index() + 1];
  std::partial_sum(groups.offsets.begin(), groups.offsets.end(), groups.offsets.begin());
  groups.members.resize(track_of.size());
  std::vector<std::uint32_t> next(groups.offsets.begin(), groups.offsets.end() - 1);
  for (std::uint32_t i = 0; i < track_of.size(); ++i) {
    groups.members[next[track_of[i].index()]++] = SliceId(i);
  }
  return groups;
}

// Sorts what consists of a few sorted runs, as a track does whose operators and calls were written
// one after the other: merges neighbours until one run is left.
template <class Less>
void sort_runs(std::vector<SliceId>& list, Less less) {
  std::vector<std::size_t> borders{0};
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (less(list[i], list[i - 1])) borders.push_back(i);
  }
  borders.push_back(list.size());
  if (borders.size() > 64) {
    std::sort(list.begin(), list.end(), less);
    return;
  }
  const auto at = [&](std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
  while (borders.size() > 2) {
    std::vector<std::size_t> merged{0};
    for (std::size_t i = 2; i < borders.size(); i += 2) {
      std::inplace_merge(at(borders[i - 2]), at(borders[i - 1]), at(borders[i]), less);
      merged.push_back(borders[i]);
    }
    if (merged.back() != list.size()) merged.push_back(list.size());
    borders.swap(merged);
  }
}

}  // namespace

void TraceBuilder::select(Selection* selection) {
  selection_ = selection;
  if (selection_ != nullptr) selection_->use();
}

Taken TraceBuilder::takes(Nanos start, Nanos duration, TrackId track, SliceKind kind,
                          const SliceIds& ids, std::string_view name) {
  if (selection_ == nullptr) return Taken::Whole;
  return selection_->takes(start, duration, track, kind, ids, name);
}

bool TraceBuilder::takes(Point point, Nanos time) {
  return selection_ == nullptr || selection_->takes(point, time);
}

Nanos TraceBuilder::whole_origin() const {
  return selection_ == nullptr ? trace_.meta_.origin : selection_->origin();
}

TrackId TraceBuilder::add_track(const Track& track) {
  trace_.tracks_.push_back(track);
  return TrackId(trace_.tracks_.size() - 1);
}

SliceId TraceBuilder::add_slice(Nanos start, Nanos duration, TrackId track, StringId name,
                                SliceKind kind) {
  SliceColumns& s = trace_.slices_;
  s.start_.push_back(start);
  s.duration_.push_back(duration);
  s.name_.push_back(name);
  s.track_.push_back(track);
  s.kind_depth_.push_back(static_cast<std::uint32_t>(kind));
  ++trace_.tracks_[track.index()].slices;
  return SliceId(s.start_.size() - 1);
}

void TraceBuilder::make_room(std::size_t slices, std::size_t operators, std::size_t launches,
                             std::size_t device_work, double done) {
  SliceColumns& s = trace_.slices_;
  sonde::make_room(s.start_, slices, done);
  sonde::make_room(s.duration_, slices, done);
  sonde::make_room(s.name_, slices, done);
  sonde::make_room(s.track_, slices, done);
  sonde::make_room(s.kind_depth_, slices, done);
  trace_.operators_.make_room(operators, done);
  trace_.launches_.make_room(launches, done);
  trace_.device_work_.make_room(device_work, done);
}

InputsId TraceBuilder::intern_inputs(const OperatorInputs& inputs) {
  const auto next = static_cast<std::uint32_t>(trace_.inputs_.size());
  std::uint64_t key = inputs.shapes.value;
  for (const StringId part : {inputs.types, inputs.strides, inputs.concrete}) {
    key = mix_bits(key * 0x100000001B3ull + part.value);
  }
  for (;; key = mix_bits(key + 1)) {  // two different inputs under one key: try the next one
    const std::uint32_t id = input_ids_.get_or_insert(key, next);
    if (id == next) {
      trace_.inputs_.push_back(inputs);
      return InputsId(next);
    }
    if (trace_.inputs_[id] == inputs) return InputsId(id);
  }
}

StackId TraceBuilder::intern_stack(const StackFrame& frame) {
  const auto next = static_cast<std::uint32_t>(trace_.stacks_.size());
  std::uint64_t key = (std::uint64_t{frame.caller.value} << 32) ^ frame.function.value;
  key = mix_bits(key) ^ (std::uint64_t{frame.file.value} << 20) ^
        static_cast<std::uint32_t>(frame.line);
  for (;; key = mix_bits(key + 1)) {
    const std::uint32_t id = stack_ids_.get_or_insert(key, next);
    if (id == next) {
      trace_.stacks_.push_back(frame);
      return StackId(next);
    }
    const StackFrame& known = trace_.stacks_[id];
    if (known.caller == frame.caller && known.function == frame.function &&
        known.file == frame.file && known.line == frame.line) {
      return StackId(id);
    }
  }
}

void TraceBuilder::rebase() {
  SliceColumns& s = trace_.slices_;
  Nanos origin = std::numeric_limits<Nanos>::max();
  for (const Nanos start : s.start_) origin = std::min(origin, start);
  const auto each_time = [&](auto&& visit) {
    for (Allocation& a : trace_.allocations_) visit(a.time);
    for (CounterValue& c : trace_.counters_) visit(c.time);
    for (Sample& sample : trace_.samples_) visit(sample.time);
    for (ProcessMemory::Snapshot& moment : trace_.process_memory_.snapshots) visit(moment.time);
  };
  each_time([&](Nanos& time) { origin = std::min(origin, time); });
  if (origin == std::numeric_limits<Nanos>::max()) {
    for (const Marker& m : trace_.markers_) origin = std::min(origin, m.time);
  }
  if (origin == std::numeric_limits<Nanos>::max()) origin = 0;

  Nanos end = 0;
  for (std::size_t i = 0; i < s.start_.size(); ++i) {
    s.start_[i] -= origin;
    end = std::max(end, s.start_[i] + s.duration_[i]);
  }
  each_time([&](Nanos& time) {
    time -= origin;
    end = std::max(end, time);
  });
  // A marker may lie far outside of the recording ("Record Window End"): it does not stretch it.
  for (Marker& m : trace_.markers_) m.time -= origin;
  trace_.span_end_ = end;
  trace_.meta_.origin = origin;
}

void TraceBuilder::nest(unsigned threads) {
  SliceColumns& s = trace_.slices_;
  rebase();
  s.parent_.assign(s.size(), SliceId());
  const TrackMembers groups = group_by_track(s.track_, trace_.tracks_.size());

  const auto nest_track = [&](std::size_t t) {
    std::vector<SliceId> order(groups.members.begin() + groups.offsets[t],
                               groups.members.begin() + groups.offsets[t + 1]);
    const auto outer_first = [&](SliceId a, SliceId b) {
      if (s.start(a) != s.start(b)) return s.start(a) < s.start(b);
      if (s.duration(a) != s.duration(b)) return s.duration(a) > s.duration(b);
      return a < b;
    };
    sort_runs(order, outer_first);
    std::vector<SliceId> open;
    for (const SliceId slice : order) {
      while (!open.empty() &&
             (s.start(slice) >= s.end(open.back()) || s.end(slice) > s.end(open.back()))) {
        open.pop_back();
      }
      if (!open.empty()) {
        s.parent_[slice.index()] = open.back();
        const auto depth =
            std::min<std::uint32_t>(s.depth(open.back()) + 1, SliceColumns::kMaxDepth);
        s.kind_depth_[slice.index()] |= depth << 8;
      }
      open.push_back(slice);
    }
  };

  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t t; (t = next.fetch_add(1)) < trace_.tracks_.size();) nest_track(t);
  };
  const auto seal_tables = [&] {
    trace_.operators_.seal(s.size());
    trace_.launches_.seal(s.size());
    trace_.device_work_.seal(s.size());
    trace_.python_.seal(s.size());
    trace_.collectives_.seal(s.size());
    trace_.categories_.seal(s.size());
    trace_.places_.seal(s.size());
    trace_.shared_arguments_.seal(s.size());
  };
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
  seal_tables();
  work();
}

Trace TraceBuilder::finish() {
  {
    const std::jthread operators([&] { trace_.operator_to_launch_.seal(); });
    trace_.launch_to_device_.seal();
    trace_.forward_to_backward_.seal();
    trace_.flows_.seal();
  }
  return std::move(trace_);
}

}  // namespace sonde
