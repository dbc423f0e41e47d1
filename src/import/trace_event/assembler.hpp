#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.hpp"
#include "import/trace_event/batch.hpp"
#include "import/trace_event/half_slice.hpp"
#include "import/trace_event/samples.hpp"
#include "trace/builder.hpp"

namespace sonde {

// Puts batches, in file order, into one TraceBuilder: local string and track numbers become the
// trace's own, begin and end events become slices, arrows find the slices that they bind to.
class EventAssembler {
 public:
  // `pair` takes the place of the general rule for begin and end events, where it is given.
  explicit EventAssembler(TraceBuilder& builder, PairHalves pair = nullptr)
      : builder_(builder), selection_(builder.selection()), pair_(std::move(pair)) {}

  void append(const Batch& batch);

  // After the last batch: closes open slices, gives samples their stacks, nests all tracks, draws
  // the arrows of flow events.
  void finish(unsigned threads, const Metadata& metadata);

  std::uint64_t events() const { return events_; }
  bool has_backward_flows() const { return backward_flows_ > 0; }

 private:
  // What one reader's numbers mean.
  struct ReaderNames {
    std::uint64_t epoch = 0;
    std::vector<std::string_view> texts;
    std::vector<StringId> strings;
    std::vector<TrackKey> track_keys;
    std::vector<TrackId> tracks;
  };
  struct ProcessInfo {
    std::int64_t pid = 0;
    StringId pid_text;
    StringId name;
    StringId labels;
    std::int64_t sort_index = kNoNumber;
  };
  struct PendingRows {
    std::optional<OperatorRow> op;
    std::optional<LaunchRow> launch;
    std::optional<DeviceRow> device;
    std::optional<PythonRow> python;
    std::optional<CollectiveRow> collective;
  };
  struct FlowPoint {
    StringId category;
    StringId id_text;
    std::int64_t id = 0;
    TrackId track;
    Nanos time = 0;
    SliceId bound;
    bool settled = false;  // bound by its place in the file, perhaps to a slice that is left out
    RecordType type = RecordType::FlowStart;
  };
  // An argument of a slice that is not yet there; its numbers are the trace's own.
  struct PendingArgument {
    StringId key;
    LocalArgument value;
    StringId text;

    // The numbers of texts in `value` are those of one reader: they tell nothing.
    bool says_the_same_as(const PendingArgument& other) const {
      return text == other.text && value.type == other.value.type &&
             value.integer == other.value.integer && value.real == other.value.real;
    }
  };
  // The next row of each of a batch's tables.
  struct Cursor {
    std::size_t op = 0;
    std::size_t launch = 0;
    std::size_t device = 0;
    std::size_t python = 0;
    std::size_t collective = 0;
    std::size_t allocation = 0;
    std::size_t counter = 0;
    std::size_t flow = 0;
    std::size_t argument_count = 0;
    std::size_t argument = 0;
  };
  // The slice that came last on a track; what is left out has no number.
  struct LastSlice {
    Nanos start = 0;
    SliceId slice;
    bool any = false;
    bool in_piece = true;
  };

  StringId string(ReaderNames& names, LocalId local);
  StringId optional_string(ReaderNames& names, StringId local);
  TrackId track(ReaderNames& names, LocalId local);
  TrackId global_track(ReaderNames& names, const TrackKey& key);
  ProcessInfo* find_process(std::int64_t pid, StringId pid_text, bool add);
  void append_slice(ReaderNames& names, const Batch& batch, const Record& record, Cursor& at);
  void append_half(ReaderNames& names, const Batch& batch, const Record& record, Cursor& at);
  void append_bare_slice(ReaderNames& names, const Batch& batch, const Record& record, Cursor& at,
                         TrackId on, Taken taken);
  void append_flow(ReaderNames& names, const Batch& batch, const Record& record, Cursor& at);
  static OperatorRow ids_only(OperatorRow row) {
    row.inputs = {};
    row.stack = {};
    row.module = {};
    return row;
  }
  static SliceIds ids_of(const Batch& batch, const Record& record, const Cursor& at);
  static void skip_rows(const Batch& batch, const Record& record, Cursor& at);
  OperatorRow operator_row(ReaderNames& names, const Batch& batch, Cursor& at);
  CollectiveRow collective_row(ReaderNames& names, const Batch& batch, Cursor& at);
  template <class Owner>
  void append_arguments(ReaderNames& names, const Batch& batch, Cursor& at, Owner owner);
  template <class Owner>
  void add_argument(Owner owner, const PendingArgument& argument) {
    switch (argument.value.type) {
      case ArgType::Integer:
        builder_.add_argument(Argument<Owner>(owner, argument.key, argument.value.integer));
        break;
      case ArgType::Real:
        builder_.add_argument(Argument<Owner>(owner, argument.key, argument.value.real));
        break;
      case ArgType::Text:
      case ArgType::Json:
        builder_.add_argument(
            Argument<Owner>(owner, argument.key, argument.text, argument.value.type));
    }
  }
  PendingArgument next_argument(ReaderNames& names, const Batch& batch, Cursor& at);
  std::span<const PendingArgument> arguments_of(const HalfSlice& half) const;
  void add_half_arguments(SliceId slice, std::span<const PendingArgument> begin,
                          std::span<const PendingArgument> end);
  void place_track(SliceKind kind, TrackId track, std::int32_t device);
  void close_halves();
  // The same for a selection, while the file is read: what is left out is never gathered.
  struct OpenHalf {
    HalfSlice half;  // without the assembler's own numbers
    std::unique_ptr<PendingRows> rows;
    SliceIds ids;
    std::vector<PendingArgument> arguments;
    std::uint64_t order = 0;
    Nanos end = 0;
    Taken taken = Taken::Whole;
  };
  struct OpenTrack {
    std::vector<OpenHalf> open;
    Nanos last = INT64_MIN;
  };
  void follow_half(ReaderNames& names, const Batch& batch, const Record& record, Cursor& at);
  void close_half(OpenHalf&& half, Nanos end, std::vector<PendingArgument> arguments);
  void close_followed_halves();
  void note_half_losses(std::uint64_t without_begin, std::uint64_t without_end,
                        std::uint64_t mismatched);
  void name_tracks();
  void draw_flows();
  void bind_flows();

  TraceBuilder& builder_;
  Selection* selection_;
  PairHalves pair_;
  std::vector<ReaderNames> readers_;
  std::vector<ProcessInfo> processes_;
  FlatMap<std::uint32_t> process_ids_;
  StringPool invalid_texts_;          // those with bytes that are no UTF-8
  std::vector<TrackKey> track_keys_;  // of each track; texts are trace strings
  FlatMap<std::uint32_t> track_ids_;
  std::vector<LastSlice> last_slice_;  // of each track
  std::vector<HalfSlice> halves_;
  std::vector<PendingRows> pending_rows_;           // HalfSlice::rows counts in it
  std::vector<PendingArgument> pending_arguments_;  // of the halves
  std::map<TrackId, OpenTrack> open_tracks_;
  std::vector<OpenHalf> closed_;
  std::uint64_t halves_seen_ = 0;
  std::uint64_t without_begin_ = 0;
  std::uint64_t without_end_ = 0;
  std::uint64_t mismatched_ = 0;
  std::vector<FlowPoint> flows_;
  std::vector<PendingSample> samples_;
  std::uint64_t events_ = 0;
  std::uint64_t backward_flows_ = 0;
};

}  // namespace sonde
