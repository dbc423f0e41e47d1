#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "import/perfetto/annotations.hpp"
#include "import/perfetto/tracks.hpp"

namespace sonde::perfetto_import {

// Gathers the events of a trace, which may come in any order, and makes slices, markers, counters
// and links of them.
class EventStore {
 public:
  EventStore(TraceBuilder& builder, TrackTable& tracks) : builder_(builder), tracks_(tracks) {}

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
    std::uint32_t order;
    bool ends;
  };

  // What an arrow means, where its number tells: see draw_flows().
  enum class Sort : std::uint8_t { Unknown, Launch, Backward, Plain };
  struct Arrow {
    std::uint32_t from;  // slices, by number
    std::uint32_t to;
    Sort sort;
  };

  // Allocations and samples, which Sonde writes as instants.
  bool take_allocation(const Event& event);
  bool take_sample(const Event& event);
  void pair_halves();
  void add_slices();
  void draw_flows();
  void add_links();

  TraceBuilder& builder_;
  TrackTable& tracks_;
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
