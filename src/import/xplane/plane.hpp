#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "import/xplane/proto_stream.hpp"
#include "trace/loss_ledger.hpp"

namespace sonde {

// Messages as bytes, one after the other, in pieces of about a megabyte that are given back as soon
// as they have been read.
class MessageStore {
 public:
  void append(std::string_view message);
  std::uint64_t bytes() const { return bytes_; }

  // Calls visit(message) for the next `count` messages.
  template <class Visit>
  void take(std::uint64_t count, Visit visit) {
    for (; count > 0; --count) visit(take_one());
  }

 private:
  struct Piece {
    std::unique_ptr<char[]> data;
    std::size_t size = 0;
    std::size_t used = 0;
  };
  std::string_view take_one();

  std::vector<Piece> pieces_;
  std::size_t reading_ = 0;
  std::size_t read_ = 0;
  std::uint64_t bytes_ = 0;
};

// An XLine, less its events.
struct LineHead {
  std::int64_t id = 0;
  std::int64_t display_id = 0;
  std::int64_t timestamp_ns = 0;
  std::string name;
  std::string display_name;
  std::uint64_t events = 0;  // how many of the plane's events are its own
};

struct EventMetadata {
  std::string name;
  std::string display_name;
  std::string stats;  // XStat messages, each behind its length
};

// An XPlane as it stands in the file. Names come behind the events that use them, so the events are
// kept until the plane is read whole.
struct PlaneData {
  std::int64_t id = 0;
  std::string name;
  std::vector<LineHead> lines;
  MessageStore events;
  std::vector<EventMetadata> event_metadata;
  FlatMap<std::uint32_t> event_metadata_by_id;
  std::vector<std::string> stat_names;
  FlatMap<std::uint32_t> stat_names_by_id;
  std::vector<std::string> stats;  // XStat messages
  std::uint64_t programs = 0;      // compiled programs (HLO), which are passed over
  std::uint64_t program_bytes = 0;
};

// A single event, name or statistic may be that long; what is longer is passed over and counted.
inline constexpr std::uint64_t kMaxMessageBytes = 64 * 1024 * 1024;

// Takes an event of the line of that number, in the plane's own order of lines.
using VisitEvent = std::function<void(std::size_t line, std::string_view message)>;

// Reads one plane that ends at offset `end`, or as much of it as there is. With `visit` no event is
// kept: it is handed on as soon as it is read, when the names of the plane are not yet known.
void read_plane(ProtoStream& stream, std::uint64_t end, PlaneData& plane, LossLedger& losses,
                const VisitEvent& visit = nullptr);

}  // namespace sonde
