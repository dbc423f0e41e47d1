#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "import/sonde_run/places.hpp"
#include "import/sonde_run/process_tracks.hpp"
#include "import/sonde_run/run_file.hpp"
#include "import/sonde_run/tick_clock.hpp"
#include "trace/builder.hpp"
#include "trace/selection.hpp"

namespace sonde {

// Gives records their meaning: chunks in the order of their sequence, then finish(); add_links()
// when all slices have found their parents.
class RecordAssembler {
 public:
  RecordAssembler(const RunFile& file, const TickClock& clock, ProcessTracks& tracks,
                  TraceBuilder& builder)
      : header_(file.header),
        names_(file.names),
        clock_(clock),
        tracks_(tracks),
        builder_(builder),
        selection_(builder.selection()) {}

  void add_chunk(const RecordChunk& chunk);
  // What needs the whole file: order by time, pairs, totals.
  void finish();
  void name_tracks();
  void add_links();

  std::uint64_t records() const { return records_; }
  bool has_operators() const { return has_operators_; }
  WaitingPlaces& places() { return places_; }

 private:
  // Arguments and places wait for the record that they stand before.
  struct WaitingArgument {
    StringId key;
    file::ArgumentType type;
    std::uint64_t bits;  // Name: the text's StringId
  };
  // Values are put into the order of their times before they get their ids; until then their
  // arguments stand in counter_arguments_.
  struct WaitingCounter {
    CounterValue value;
    std::size_t first_argument;
    std::size_t arguments;
  };
  struct ThreadName {
    Nanos time;
    StringId name;
  };
  struct AsyncHalf {
    Nanos time;
    std::uint64_t id;
    StringId name;
    StringId domain;
    bool begin;
  };
  struct LinkEnds {
    std::uint64_t cause;
    std::uint64_t effect;
  };

  void add_record(const file::Record& record);
  void add_waiting_argument(const file::Record& record);
  void add_slice(const file::Record& record);
  void add_async_slice(const file::Record& record);
  SliceId add_operator(const file::Record& record);
  void add_placed_operator(const file::Record& record);
  void add_device_slice(const file::Record& record);
  void add_counter(const file::Record& record);
  void add_allocation(const file::Record& record);
  MarkerId add_marker(Nanos time, StringId name, StringId domain, char scope);

  StringId name_of(const file::Record& record) { return name(file::word_name(record.word)); }
  StringId name(std::uint32_t id);
  StringId domain_of(const file::Record& record);
  SliceKind kind_of(std::uint8_t number);
  bool time_of(std::uint64_t ticks, Nanos& out);
  // Invalid where the slice is left out.
  SliceId append_slice(Nanos start, Nanos end, TrackId track, StringId name, StringId domain,
                       SliceKind kind, const SliceIds& ids = {});
  void remember(FlatMap<SliceId>& ids, std::uint64_t id, SliceId slice) {
    if (id != 0 && (selection_ == nullptr || selection_->needs_link(id)))
      ids.get_or_insert(id, slice);
  }
  // Gives the waiting arguments to the record that they stand before.
  template <class Owner>
  void take_arguments(Owner owner) {
    if (!owner.valid()) return arguments_.clear();
    for (const WaitingArgument& argument : arguments_) add_argument(owner, argument);
    arguments_.clear();
  }
  template <class Owner>
  void add_argument(Owner owner, const WaitingArgument& waiting) {
    using Kept = Argument<Owner>;
    switch (waiting.type) {
      case file::ArgumentType::Int64:
        return builder_.add_argument(
            Kept(owner, waiting.key, std::bit_cast<std::int64_t>(waiting.bits)));
      case file::ArgumentType::Double:
        return builder_.add_argument(Kept(owner, waiting.key, std::bit_cast<double>(waiting.bits)));
      case file::ArgumentType::Name:
        return builder_.add_argument(
            Kept(owner, waiting.key, StringId(static_cast<std::uint32_t>(waiting.bits))));
    }
  }
  void lose_arguments();
  void lose(const char* name, Severity severity, const char* sentence);

  TrackId thread_track() { return tracks_.thread(thread_); }

  void add_async_pairs();
  void add_counters();
  void add_allocations();

  const file::FileHeader& header_;
  const NameTable& names_;
  const TickClock& clock_;
  ProcessTracks& tracks_;
  TraceBuilder& builder_;
  Selection* selection_;

  std::map<std::uint32_t, ThreadName> thread_names_;
  ThreadName process_name_{INT64_MIN, StringId()};
  std::uint32_t thread_ = 0;  // of the record at work
  std::vector<WaitingArgument> arguments_;
  DeviceRow place_;
  std::uint64_t offset_ = 0;  // of the record at work
  std::uint64_t records_ = 0;

  FlatMap<SliceId> host_ids_;
  FlatMap<SliceId> device_ids_;
  std::vector<LinkEnds> links_;
  std::vector<AsyncHalf> halves_;
  std::vector<WaitingCounter> counters_;
  std::vector<WaitingArgument> counter_arguments_;
  // Totals need all allocations, a piece needs few of them.
  struct AllocationStep {
    Nanos time;
    std::int64_t bytes;
    std::int32_t device_type;
    std::int32_t device;
    std::uint32_t kept;  // in allocations_, or kNotKept
  };
  static constexpr std::uint32_t kNotKept = UINT32_MAX;
  std::vector<AllocationStep> allocation_steps_;
  std::vector<Allocation> allocations_;
  Nanos latest_ = INT64_MIN;
  bool has_operators_ = false;
  WaitingPlaces places_;
};

}  // namespace sonde
