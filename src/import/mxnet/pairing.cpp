#include "import/mxnet/pairing.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/flat_map.hpp"

namespace sonde {
namespace {

// An operator's task lies inside of its event; both clocks are read in whole microseconds.
constexpr Nanos kTolerance = 2000;

struct PairedSlice {
  Nanos start = 0;
  Nanos duration = 0;
  TrackId track;
  StringId name;
  StringId category;
  std::int64_t thread = 0;
  bool on_device = false;
  bool of_operator = false;
  bool duplicate = false;
};

// Which end belongs to which begin: times of the ends by the index of their begin.
class HalfPairing {
 public:
  static constexpr Nanos kOpen = INT64_MIN;

  explicit HalfPairing(std::span<const HalfSlice> halves) : ends_(halves.size(), kOpen) {
    FlatMap<std::uint32_t> open;  // by track and name: index of the open begin + 1, or 0
    for (std::uint32_t i = 0; i < halves.size(); ++i) {
      const HalfSlice& half = halves[i];
      std::uint32_t& begin =
          open.get_or_insert(std::uint64_t{half.track.value} << 32 | half.name.value, 0);
      if (half.begins) {
        begin = i + 1;
      } else if (begin == 0) {
        ++without_begin_;
      } else {
        ends_[begin - 1] = half.time;
        begin = 0;
      }
    }
  }

  Nanos end(std::size_t begin) const { return ends_[begin]; }
  std::uint64_t without_begin() const { return without_begin_; }

 private:
  std::vector<Nanos> ends_;
  std::uint64_t without_begin_ = 0;
};

std::vector<PairedSlice> paired_slices(std::span<const HalfSlice> halves, TraceBuilder& builder) {
  const HalfPairing pairing(halves);
  std::vector<PairedSlice> slices;
  std::uint64_t without_end = 0;
  std::uint64_t negative = 0;
  std::uint64_t unusable = 0;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const HalfSlice& half = halves[i];
    if (!half.begins) continue;
    if (pairing.end(i) == HalfPairing::kOpen) {
      ++without_end;
      continue;
    }
    PairedSlice slice;
    slice.start = half.time;
    slice.duration = pairing.end(i) - half.time;
    if (slice.duration < 0 || slice.duration > kMaxDuration) {
      ++(slice.duration < 0 ? negative : unusable);
      slice.duration = 0;
    }
    const Track& track = builder.track(half.track);
    const std::string_view category = builder.text(half.category);
    slice.track = half.track;
    slice.name = half.name;
    slice.category = half.category;
    slice.thread = track.tid;
    slice.on_device = !track.process.valid();
    slice.of_operator = category == "operator" || category == "Custom Operator";
    slices.push_back(slice);
  }
  builder.losses().add(
      "end_without_begin", Severity::Warning,
      "End events without a begin before them on their track; they were passed over.",
      pairing.without_begin());
  builder.losses().add("begin_without_end", Severity::Warning,
                       "Begin events that nothing ends; they were passed over.", without_end);
  builder.losses().add("duration_negative", Severity::Warning,
                       "Negative durations; the events are kept with 0.", negative);
  builder.losses().add(
      "duration_unusable", Severity::Warning,
      "Durations that are no number, or longer than ten years; the events are kept with 0.",
      unusable);
  return slices;
}

// Marks the tasks that are the second record of an operator. Each event has at most one task.
void mark_duplicates(std::vector<PairedSlice>& slices) {
  std::vector<PairedSlice*> events;
  std::vector<PairedSlice*> tasks;
  for (PairedSlice& slice : slices) {
    if (slice.on_device)
      events.push_back(&slice);
    else if (slice.of_operator)
      tasks.push_back(&slice);
  }
  const auto who = [](const PairedSlice* s) { return std::tuple(s->name, s->thread); };
  const auto in_order = [&](const PairedSlice* a, const PairedSlice* b) {
    if (who(a) != who(b)) return who(a) < who(b);
    return std::tuple(a->start, a) < std::tuple(b->start, b);
  };
  std::sort(events.begin(), events.end(), in_order);
  std::sort(tasks.begin(), tasks.end(), in_order);
  auto event = events.begin();
  for (PairedSlice* task : tasks) {
    const Nanos end = task->start + task->duration;
    const auto lies_before = [&](const PairedSlice* e) {
      if (who(e) != who(task)) return who(e) < who(task);
      return e->start + e->duration + kTolerance < end;
    };
    while (event != events.end() && lies_before(*event)) ++event;
    if (event == events.end()) break;
    if (who(*event) != who(task) || (*event)->start - kTolerance > task->start) continue;
    task->duplicate = true;
    ++event;
  }
}

SliceKind kind_of(const PairedSlice& slice, std::string_view category) {
  if (slice.duplicate) return SliceKind::Other;
  if (slice.on_device || slice.of_operator) return SliceKind::Operator;
  return category == "MXNET_C_API" ? SliceKind::Api : SliceKind::UserRange;
}

}  // namespace

MxnetGeneration pair_mxnet_halves(std::span<const HalfSlice> halves, TraceBuilder& builder) {
  std::vector<PairedSlice> slices = paired_slices(halves, builder);
  mark_duplicates(slices);
  MxnetGeneration generation = MxnetGeneration::From12;
  for (const PairedSlice& slice : slices) {
    const std::string_view category = builder.text(slice.category);
    const SliceKind kind = kind_of(slice, category);
    const SliceId id =
        builder.add_slice(slice.start, slice.duration, slice.track, slice.name, kind);
    // That an operator is one needs no word.
    const bool plain = kind == SliceKind::Operator && category != "Custom Operator";
    if (!plain) builder.add_category(id, slice.category);
    // Tasks and frames of one thread may overlap in any way.
    const bool nests = kind == SliceKind::Operator || kind == SliceKind::Api || category == "event";
    if (!nests) builder.track(slice.track).type = TrackType::Async;
    if (slice.on_device && category == "category") generation = MxnetGeneration::UpTo11;
    if (category == "Custom Operator") generation = MxnetGeneration::From16;
  }
  return generation;
}

}  // namespace sonde
