#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/xplane/allocation_writer.hpp"
#include "import/xplane/arrows.hpp"
#include "import/xplane/event_facts.hpp"
#include "import/xplane/event_kinds.hpp"
#include "import/xplane/event_types.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Writes the planes, lines and events of TensorFlow's and JAX's profiles into a trace, whatever
// file they come from: gives events their kinds and rows, finds steps, allocations, counters and
// arrows.
class EventWriter {
 public:
  explicit EventWriter(TraceBuilder& builder)
      : builder_(builder), kinds_(builder), allocations_(builder) {}

  // Planes of one name are one, and so are lines of one id in a plane.
  void begin_plane(std::string_view name, std::int64_t process, bool has_step_numbers);
  void begin_line(std::int64_t id, std::string_view name);

  EventType make_type(std::string_view name, std::string_view display_name);
  StatKey key(std::string_view name) { return {text(name), stat_name(name)}; }
  // The text in the trace's pool, as valid UTF-8.
  StringId text(std::string_view raw);

  // Times in nanoseconds of the file's clock; `duration_ps` as the file has it.
  void add(const EventType& type, Nanos start, Nanos duration, std::int64_t duration_ps,
           std::span<const Stat> stats);

  std::uint64_t events() const { return events_; }

  // Nests slices and draws the links.
  void finish(unsigned threads);

 private:
  struct LineKey {
    std::uint32_t plane = 0;
    std::int64_t id = 0;
    TrackId track;
    LineType type = LineType::Thread;
    Nanos region_start = 0;
    Arrows::Work region_work{};
  };

  // For a slice of the line at work; where it is left out, what it hands on is noted.
  bool takes(Nanos start, Nanos duration, SliceKind kind, const EventFacts& facts,
             std::string_view name);
  bool takes_instant(Arrows::Work work, Nanos time);
  void add_counters(const EventType& type, Nanos time, std::span<const Stat> stats);
  void add_marker(const EventType& type, Nanos time, std::span<const Stat> stats);
  void follow_region(const EventType& type, const EventFacts& facts, Nanos time);
  void add_rows(SliceId slice, SliceKind kind, const EventFacts& facts, Nanos duration);
  void add_arguments(SliceId slice, const EventType& type, std::span<const Stat> stats,
                     const EventFacts& facts, std::int64_t duration_ps);
  template <class Arg, class Owner>
  bool make_argument(Owner owner, const Stat& stat, std::vector<Arg>& out);

  TraceBuilder& builder_;
  std::vector<std::pair<StringId, PlaneKind>> planes_;
  std::uint32_t plane_ = 0;
  std::int64_t process_ = 0;
  std::vector<LineKey> lines_;
  FlatMap<std::uint32_t> lines_by_key_;
  std::uint32_t line_ = 0;
  std::uint64_t events_ = 0;

  EventKinds kinds_;
  AllocationWriter allocations_;
  Arrows arrows_;

  std::vector<SetArg> shared_;
  std::vector<SliceArg> own_;
  std::vector<MarkerArg> marker_args_;
  StringPool invalid_texts_;
};

}  // namespace sonde
