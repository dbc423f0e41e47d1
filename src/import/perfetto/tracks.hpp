#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde::perfetto_import {

// A place of events as the file describes it.
struct Descriptor {
  bool known = false;  // whether the file describes it at all
  std::uint64_t parent = 0;
  StringId name;
  std::int32_t rank = 0;
  bool has_rank = false;

  bool is_process = false;
  bool is_thread = false;
  bool is_counter = false;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  StringId process_name;
  StringId process_labels;
  StringId thread_name;

  std::int64_t multiplier = 1;  // of counters
  bool incremental = false;
  StringId unit;
  double total = 0;  // of incremental counters

  // What a description of Sonde's says, where the file's own fields cannot.
  enum class Stated : std::uint8_t { Nothing, Process, Track, Lane, Counter };
  Stated stated = Stated::Nothing;
  Track facts;            // Process, Track
  StringId counter_name;  // Counter
  StringId counter_series;

  TrackId track;  // invalid before the first event
};

// The tracks of a trace. An event may come before the description of its track, so that names are
// set at the end.
class TrackTable {
 public:
  TrackTable(TraceBuilder& builder, NamePool& names) : builder_(builder), names_(names) {}

  void describe(std::string_view message);
  void add_process_tree(std::string_view message);

  // The place under that number; 0 is the trace as a whole.
  Descriptor& at(std::uint64_t uuid);
  TrackId track(std::uint64_t uuid);
  // Scope of an instant: t thread, p process, g all.
  char scope(std::uint64_t uuid) const;

  // Whether the file says itself what the track is; after finish().
  bool is_stated(TrackId track) const { return stated_[track.index()]; }

  // For each track the one that its slices belong to: itself, but for the further lanes of a track
  // whose slices overlap in part ("main (overlap 1)"), which the format cannot hold on one.
  std::vector<TrackId> home_tracks() const;

  // Names, processes, types: after the last packet. `has_device_work` tells of each track.
  void finish(const std::vector<bool>& has_device_work);

 private:
  struct Process {
    StringId name;
    StringId labels;
  };
  struct Place {
    const Descriptor* process = nullptr;
    const Descriptor* thread = nullptr;
  };
  void read_process(std::string_view message, Descriptor& descriptor);
  void read_thread(std::string_view message, Descriptor& descriptor);
  void read_counter(std::string_view message, Descriptor& descriptor);
  void read_description(std::string_view text, Descriptor& descriptor);
  Place place_of(const Descriptor& descriptor) const;
  void number_stream(const Descriptor& descriptor, Track& track) const;

  TraceBuilder& builder_;
  NamePool& names_;
  std::unordered_map<std::uint64_t, Descriptor> descriptors_;
  std::vector<std::uint64_t> order_;  // of first use, for the numbering of tracks
  std::map<std::int64_t, Process> processes_;
  std::map<std::int64_t, StringId> threads_;  // names by tid
  std::vector<bool> stated_;                  // by track
};

}  // namespace sonde::perfetto_import
