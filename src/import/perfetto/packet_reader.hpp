#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/perfetto/clocks.hpp"
#include "import/perfetto/event_store.hpp"
#include "import/perfetto/sequence.hpp"
#include "import/perfetto/tracks.hpp"

namespace sonde::perfetto_import {

// Gives packets their meaning, one after the other.
class PacketReader {
 public:
  explicit PacketReader(TraceBuilder& builder)
      : builder_(builder),
        names_(builder),
        clocks_(builder.losses()),
        tracks_(builder, names_),
        events_(builder, tracks_) {}

  // `offset` is where the packet stands in the file. A broken one is counted and passed over.
  void read(std::string_view packet, std::uint64_t offset);
  void finish(unsigned threads);

  std::uint64_t events() const { return event_count_; }

 private:
  struct Packet {
    std::uint64_t timestamp = 0;
    std::optional<std::uint32_t> clock;
    std::uint32_t sequence = 0;
    std::uint32_t flags = 0;
    std::string_view interned;
    std::string_view defaults;
    bool has_interned = false;
    bool has_defaults = false;
    std::uint32_t field = 0;  // of the payload
    std::string_view payload;
  };

  void read_packet(std::string_view bytes);
  void read_payload(const Packet& packet, Sequence& sequence);
  void read_compressed(std::string_view bytes);
  void read_event(const Packet& packet, Sequence& sequence);
  void read_stack(std::string_view message);
  void add_event(int type, double value, bool has_value);
  void add_counters(const Sequence& sequence);
  void lose(const char* name, Severity severity, const char* sentence) {
    builder_.losses().add(name, severity, sentence, 1, offset_);
  }

  TraceBuilder& builder_;
  NamePool names_;
  Clocks clocks_;
  TrackTable tracks_;
  EventStore events_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  std::uint64_t offset_ = 0;
  std::uint64_t event_count_ = 0;
  bool in_compressed_ = false;

  // Of the event at work; members, so that their memory is used again.
  EventStore::Event event_;
  std::string categories_;
  std::vector<std::uint64_t> counter_tracks_;
  std::vector<std::uint64_t> double_counter_tracks_;
  std::vector<std::uint64_t> counter_values_;
  std::vector<double> double_counter_values_;
};

}  // namespace sonde::perfetto_import
