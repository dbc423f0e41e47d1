#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "import/perfetto/annotations.hpp"
#include "import/perfetto/tracks.hpp"

namespace sonde::perfetto_import {

// Gathers the events of a trace, which may come in any order, and makes slices, markers, counters
// and links of them.
class EventStore {
 public:
  EventStore(TraceBuilder& builder, TrackTable& tracks)
      : builder_(builder), tracks_(tracks), selection_(builder.selection()) {}

  struct Flow {
    std::uint64_t id = 0;
    bool ends = false;
  };
  struct Event {
    Nanos time = 0;
    std::uint64_t track = 0;  // uuid
    StringId name;
    StringId category;
    StringId stack;
    StackId frames;  // the same, where the event holds it itself
    std::vector<PendingArgument> arguments;
    std::vector<Flow> flows;
  };

  void begin_slice(const Event& event);
  void end_slice(const Event& event);
  void add_instant(const Event& event);
  void add_counter(const Event& event, std::uint64_t track, double value);

  void finish(unsigned threads);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Half {
    Nanos time;
    TrackId track;
    std::uint32_t begin;  // number of the slice that begins, or kNone
    std::uint32_t end;    // number of the end event's arguments, or kNone
  };
  struct Begin {
    Nanos start;
    Nanos duration;
    TrackId track;
    StringId name;
    StringId category;
    StringId stack;
  };
  struct OwnedArgument {
    std::uint32_t owner;  // a slice, by number
    PendingArgument argument;
  };
  struct EndArguments {
    std::uint32_t first;
    std::uint32_t count;
    std::uint32_t first_flow;
    std::uint32_t flow_count;
  };
  struct FlowPoint {
    std::uint64_t id;
    Nanos time;
    std::uint32_t slice;
    std::uint64_t order;
    bool ends;
  };

  // What an arrow means, where its number tells: see draw_flows().
  enum class Sort : std::uint8_t { Unknown, Launch, Backward, Plain };
  static Sort sort_of(std::uint64_t id) {
    constexpr std::uint64_t kMark = 0x536F6E6;
    const std::uint64_t sort = id >> 32 & 0xF;
    return id >> 36 == kMark && sort <= 3 ? static_cast<Sort>(sort) : Sort::Unknown;
  }
  struct Arrow {
    std::uint32_t from;  // slices, by number
    std::uint32_t to;
    Sort sort;
  };

  // Allocations and samples, which Sonde writes as instants.
  bool take_allocation(const Event& event);
  bool take_sample(const Event& event);
  void pair_halves();
  SliceKind take_kind(Begin& begin);
  void add_slices();
  void add_slice(const Begin& begin, SliceKind kind, std::span<const PendingArgument> arguments,
                 std::int64_t correlation);
  void draw_flows();
  void add_links();
  // The slice of that number; invalid where it is left out.
  SliceId slice_of(std::uint32_t number) const;

  // For a selection: slices are closed while the file is read, and what is left out is never
  // gathered. See event_pieces.cpp.
  struct OpenSlice {
    Begin begin;
    std::uint32_t number = 0;
    std::vector<PendingArgument> arguments;
    std::vector<FlowPoint> flows;
  };
  struct OpenTrack {
    std::vector<OpenSlice> open;
    Nanos last = INT64_MIN;
  };
  struct ClosedSlice {
    Begin begin;
    SliceKind kind;
    std::uint32_t number;
    std::int64_t correlation;
    std::vector<PendingArgument> arguments;
  };
  struct TrackDevice {
    std::uint32_t number;  // of the first slice that tells
    std::int32_t device;
  };
  OpenTrack& follow(const Event& event, TrackId track);
  void follow_begin(const Event& event);
  void follow_end(const Event& event);
  void close_slice(OpenSlice&& slice, Nanos end);
  void close_followed();
  void add_closed_slices();

  TraceBuilder& builder_;
  TrackTable& tracks_;
  Selection* selection_;
  std::map<TrackId, OpenTrack> open_tracks_;
  std::vector<ClosedSlice> closed_;
  std::vector<std::pair<std::uint32_t, SliceId>> closed_ids_;  // by number
  std::map<TrackId, TrackDevice> track_devices_;
  std::set<TrackId> device_tracks_;
  std::uint32_t slices_seen_ = 0;
  std::uint32_t ends_seen_ = 0;
  std::uint64_t without_begin_ = 0;
  std::uint64_t without_end_ = 0;
  bool unknown_flows_ = false;
  std::map<StringId, std::uint32_t> sample_types_;
  bool has_allocations_ = false;
  std::vector<Half> halves_;
  std::vector<Begin> begins_;
  std::vector<OwnedArgument> arguments_;
  std::vector<EndArguments> ends_;
  std::vector<PendingArgument> end_arguments_;
  std::vector<Flow> end_flows_;
  std::vector<FlowPoint> flows_;
  std::vector<Arrow> arrows_;
};

}  // namespace sonde::perfetto_import
