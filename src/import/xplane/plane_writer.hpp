#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "import/xplane/event_writer.hpp"
#include "import/xplane/messages.hpp"
#include "import/xplane/plane.hpp"

namespace sonde {

// What the planes say about the machine and the recording.
struct SpaceFacts {
  std::int64_t start_time = kNoNumber;  // Unix time in nanoseconds
  std::string jax_version;
  std::string tensorflow_version;
  std::uint64_t properties_left_out = 0;
};

// Hands the events of one plane after the other to an EventWriter, with their names.
class PlaneWriter {
 public:
  PlaneWriter(TraceBuilder& builder, EventWriter& events) : builder_(builder), events_(events) {}

  // `done` (0 … 1) is the part of the input that has been read. Empties the plane.
  void write(PlaneData& plane, double done);
  // The same in steps, for a plane whose names were read before its events: begin(), then each line
  // and its events, then end().
  void begin(PlaneData& plane);
  void begin_line(const LineHead& line);
  void write_event(PlaneData& plane, const LineHead& line, std::string_view message);
  void end();
  const SpaceFacts& facts() const { return facts_; }

 private:
  const StatKey& stat_key(const PlaneData& plane, std::int64_t id);
  bool resolve(const PlaneData& plane, const RawStat& raw, Stat& out);
  const EventType& event_type(const PlaneData& plane, std::int64_t id);
  void describe(PlaneData& plane);
  void describe_device(const PlaneData& plane, PlaneKind kind);
  void add_property(std::string key, const StatValue& value);

  TraceBuilder& builder_;
  EventWriter& events_;
  SpaceFacts facts_;
  // Of the plane at hand, filled as they are used: the table of names holds texts as well.
  std::vector<std::optional<StatKey>> stat_keys_;
  std::vector<StringId> stat_texts_;
  std::vector<std::optional<EventType>> types_;
  FlatMap<std::uint32_t> unnamed_keys_;
  std::vector<StatKey> unnamed_key_list_;
  std::optional<EventType> unnamed_type_;
  std::vector<Stat> stats_;
  std::uint64_t aggregated_ = 0;
};

}  // namespace sonde
