#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/argument_sets.hpp"
#include "trace/arguments.hpp"
#include "trace/call_profile.hpp"
#include "trace/ids.hpp"
#include "trace/kind.hpp"
#include "trace/links.hpp"
#include "trace/long_vector.hpp"
#include "trace/loss_ledger.hpp"
#include "trace/process_memory.hpp"
#include "trace/side_table.hpp"
#include "trace/source_listing.hpp"
#include "trace/string_pool.hpp"

namespace sonde {

// Nanoseconds since the trace's origin, or a length in nanoseconds.
using Nanos = std::int64_t;

// Importers refuse times beyond ±kMaxTime and durations beyond kMaxDuration: neither the difference
// of two times nor a duration on top of it leaves the range of Nanos.
inline constexpr Nanos kMaxTime = 4'000'000'000'000'001'000;
inline constexpr Nanos kMaxDuration = Nanos{10} * 365 * 24 * 3600 * 1'000'000'000;

inline constexpr std::int64_t kNoNumber = std::numeric_limits<std::int64_t>::min();

// Where slices lie: a thread of a process, a device stream, a counter, an asynchronous lane.
enum class TrackType : std::uint8_t { Thread, Stream, Async, Span, Counter };

struct Track {
  TrackType type = TrackType::Thread;
  std::int64_t pid = 0;      // 0 where the file has a text (see process)
  std::int64_t tid = 0;      // for streams the stream id
  std::int32_t device = -1;  // for streams the device ordinal
  std::int64_t sort_index = kNoNumber;
  StringId process;  // process_name, or the pid's own text where it is no number
  StringId labels;   // process_labels
  StringId name;     // thread_name, or the tid's own text where it is no number
  std::uint32_t slices = 0;
};

// The hot columns: 32 bytes a slice. Slices are numbered in the order of the file, since the
// peers' tie rules depend on it. The parent is the innermost slice of the same track that
// encloses this one whole.
class SliceColumns {
 public:
  std::size_t size() const { return start_.size(); }

  Nanos start(SliceId s) const { return start_[s.index()]; }
  Nanos duration(SliceId s) const { return duration_[s.index()]; }
  Nanos end(SliceId s) const { return start_[s.index()] + duration_[s.index()]; }
  StringId name(SliceId s) const { return name_[s.index()]; }
  TrackId track(SliceId s) const { return track_[s.index()]; }
  SliceId parent(SliceId s) const { return parent_[s.index()]; }
  SliceKind kind(SliceId s) const { return static_cast<SliceKind>(kind_depth_[s.index()] & 0xFF); }
  std::uint32_t depth(SliceId s) const { return kind_depth_[s.index()] >> 8; }

  static constexpr std::size_t bytes_per_slice() {
    return 2 * sizeof(Nanos) + sizeof(StringId) + sizeof(TrackId) + sizeof(SliceId) +
           sizeof(std::uint32_t);
  }

 private:
  friend class TraceBuilder;
  static constexpr std::uint32_t kMaxDepth = 0xFFFFFF;

  LongVector<Nanos> start_;
  LongVector<Nanos> duration_;
  LongVector<StringId> name_;
  LongVector<TrackId> track_;
  LongVector<SliceId> parent_;
  LongVector<std::uint32_t> kind_depth_;
};
static_assert(SliceColumns::bytes_per_slice() <= 32);

// What an operator was given, as the JSON text of the file; each different combination once.
struct OperatorInputs {
  StringId shapes;    // "Input Dims"; invalid where the file has none
  StringId types;     // "Input type"
  StringId strides;   // "Input Strides"
  StringId concrete;  // "Concrete Inputs"
  friend bool operator==(const OperatorInputs&, const OperatorInputs&) = default;
};

// Host operators, user ranges and steps.
struct OperatorRow {
  std::int64_t external_id = kNoNumber;
  std::int64_t sequence = kNoNumber;
  std::int32_t forward_thread = -1;  // the writer's own number; > 0: a backward operator
  InputsId inputs;
  StringId stack;              // "Call stack": frames joined by ';', innermost first
  StringId module;             // "Module Hierarchy"
  std::int32_t order = -1;     // "Ev Idx": the writer's own numbering
  bool is_annotation = false;  // a user_annotation in the file, not an operator
};

// Runtime and driver calls, synchronisation records.
struct LaunchRow {
  std::int64_t correlation = kNoNumber;
  std::int64_t external_id = kNoNumber;
  std::int64_t cbid = kNoNumber;
};

// Kernels, copies, memsets, ranges on a stream.
struct DeviceRow {
  std::int64_t correlation = kNoNumber;
  std::int64_t external_id = kNoNumber;
  std::int64_t stream = kNoNumber;
  std::int64_t bytes = kNoNumber;  // copies and memsets
  std::int32_t context = -1;
  std::int32_t device = -1;
  std::int32_t registers = -1;      // per thread
  std::int32_t shared_memory = -1;  // static and dynamic, bytes
  std::array<std::int32_t, 3> grid{-1, -1, -1};
  std::array<std::int32_t, 3> block{-1, -1, -1};
  float blocks_per_sm = -1;
  float warps_per_sm = -1;
  float occupancy = -1;  // "est. achieved occupancy %"
  float bandwidth = -1;  // GB/s
};

struct PythonRow {
  std::int64_t id = kNoNumber;
  std::int64_t parent_id = kNoNumber;
  std::int64_t module_id = kNoNumber;
};

// What a collective moved, on its operator and (copied there by the writer) on its kernel.
struct CollectiveRow {
  StringId collective;
  StringId dtype;
  StringId group;
  StringId group_description;
  StringId group_ranks;
  std::int64_t in_elements = kNoNumber;
  std::int64_t out_elements = kNoNumber;
  std::int64_t group_size = kNoNumber;
  std::int64_t sequence = kNoNumber;
};

// An instant.
struct Marker {
  Nanos time = 0;
  TrackId track;
  StringId name;
  char scope = 't';  // t thread, p process, g global
  StringId category{};
};

struct CounterValue {
  Nanos time = 0;
  TrackId track;
  StringId counter;
  StringId series;
  double value = 0;
};

// One allocation (bytes > 0) or free (bytes < 0).
struct Allocation {
  Nanos time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t total_allocated = kNoNumber;
  std::int64_t total_reserved = kNoNumber;
  TrackId track;
  std::int32_t device_type = 0;  // 0 CPU, 1 CUDA, …
  std::int32_t device = -1;
  bool out_of_memory = false;
  StringId pool{};
  StringId tag{};  // what the program called it
  StackId stack{};
};

struct Sample {
  Nanos time = 0;
  TrackId track;
  StackId stack;
  double weight = 1;
  std::uint32_t type = 0;  // index into Trace::sample_types(); 0 where there is none
};

// What the weights of samples count.
struct SampleType {
  StringId name;      // "cpu", "inuse_space", "samples"
  StringId unit;      // "ns", "bytes", "count", or empty
  bool timed = true;  // whether Sample::time tells when; else it is only an order
};

// A frame and the frame that called it: an interned tree.
struct StackFrame {
  StackId caller;
  StringId function;
  StringId file;
  std::int32_t line = 0;
};

struct Device {
  std::int64_t id = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t compute_major = 0;
  std::int64_t compute_minor = 0;
  std::int64_t multiprocessors = 0;
  std::int64_t max_threads_per_multiprocessor = 0;
  std::int64_t warp_size = 0;
};

struct TraceMeta {
  std::string format;    // the importer's name: "kineto", "chrome"
  std::string producer;  // "PyTorch (Kineto)", …
  std::string version;   // as far as the file tells
  std::vector<Device> devices;
  std::string device_family;  // "CUDA", "ROCm", "XPU", "MTIA"; empty without an accelerator
  std::string backend;        // distributed back end
  std::int64_t rank = -1;
  std::int64_t world_size = -1;
  Nanos origin = 0;         // the file's own time of Trace time 0
  Nanos base_time = 0;      // wall-clock time (Unix, ns) = base_time + origin + time
  bool wall_clock = false;  // whether base_time is known
  bool profile_memory = false;
  bool with_stack = false;
  bool record_shapes = false;
  bool with_modules = false;
  bool with_flops = false;
  std::vector<std::pair<std::string, std::string>> properties;  // other top-level keys, raw JSON
  std::uint64_t input_bytes = 0;                                // inflated
  std::uint64_t file_events = 0;  // JSON events, records …: what the file held
};

// One profile, whole and unchanging: every analysis reads it, from any thread.
class Trace {
 public:
  const SliceColumns& slices() const { return slices_; }
  std::size_t slice_count() const { return slices_.size(); }
  const std::vector<Track>& tracks() const { return tracks_; }
  const Track& track(TrackId id) const { return tracks_[id.index()]; }
  const StringPool& strings() const { return strings_; }
  std::string_view text(StringId id) const { return strings_.view(id); }
  std::string_view name(SliceId id) const { return strings_.view(slices_.name(id)); }

  const SideTable<OperatorRow>& operators() const { return operators_; }
  const SideTable<LaunchRow>& launches() const { return launches_; }
  const SideTable<DeviceRow>& device_work() const { return device_work_; }
  const SideTable<PythonRow>& python() const { return python_; }
  const SideTable<CollectiveRow>& collectives() const { return collectives_; }
  // The file's own word for slices of kind Other, and for others that have one besides their kind.
  const SideTable<StringId>& categories() const { return categories_; }
  // Where in the program a host slice began, as far as it is known: the innermost frame.
  const SideTable<StackId>& places() const { return places_; }
  const Arguments<SliceId>& arguments() const { return arguments_; }
  // What slices have in common with others of their kind; of the two, arguments() has the last
  // word.
  const ArgumentSets& shared_arguments() const { return shared_arguments_; }
  const Arguments<MarkerId>& marker_arguments() const { return marker_arguments_; }
  const Arguments<CounterId>& counter_arguments() const { return counter_arguments_; }
  const OperatorInputs& inputs(InputsId id) const;

  const Links& launch_to_device() const { return launch_to_device_; }
  const Links& operator_to_launch() const { return operator_to_launch_; }
  const Links& forward_to_backward() const { return forward_to_backward_; }
  const Links& flows() const { return flows_; }  // arrows that mean nothing more to Sonde

  const std::vector<Marker>& markers() const { return markers_; }
  const std::vector<CounterValue>& counters() const { return counters_; }
  const std::vector<Allocation>& allocations() const { return allocations_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<SampleType>& sample_types() const { return sample_types_; }
  const std::vector<StackFrame>& stacks() const { return stacks_; }
  const CallProfile& call_profile() const { return call_profile_; }
  const ProcessMemory& process_memory() const { return process_memory_; }
  const SourceListing& source_listing() const { return source_listing_; }

  const TraceMeta& meta() const { return meta_; }
  const LossLedger& losses() const { return losses_; }

  Nanos span_start() const { return 0; }
  Nanos span_end() const { return span_end_; }  // latest end of anything

  // Bytes that the columns, tables and strings take.
  std::size_t bytes() const;

 private:
  friend class TraceBuilder;

  SliceColumns slices_;
  std::vector<Track> tracks_;
  StringPool strings_;
  SideTable<OperatorRow> operators_;
  SideTable<LaunchRow> launches_;
  SideTable<DeviceRow> device_work_;
  SideTable<PythonRow> python_;
  SideTable<CollectiveRow> collectives_;
  SideTable<StringId> categories_;
  SideTable<StackId> places_;
  Arguments<SliceId> arguments_;
  ArgumentSets shared_arguments_;
  Arguments<MarkerId> marker_arguments_;
  Arguments<CounterId> counter_arguments_;
  std::vector<OperatorInputs> inputs_;
  Links launch_to_device_;
  Links operator_to_launch_;
  Links forward_to_backward_;
  Links flows_;
  std::vector<Marker> markers_;
  std::vector<CounterValue> counters_;
  std::vector<Allocation> allocations_;
  std::vector<Sample> samples_;
  std::vector<SampleType> sample_types_;
  std::vector<StackFrame> stacks_;
  CallProfile call_profile_;
  ProcessMemory process_memory_;
  SourceListing source_listing_;
  TraceMeta meta_;
  LossLedger losses_;
  Nanos span_end_ = 0;
};

// The argument of a slice under that key, its own or a shared one; the number of a text is what the
// text says where it is a number.
class ArgumentValue {
 public:
  ArgumentValue() = default;
  template <class Owner>
  explicit ArgumentValue(const Argument<Owner>& arg) : type_(arg.type()), found_(true) {
    if (type_ == ArgType::Integer)
      integer_ = arg.integer();
    else if (type_ == ArgType::Real)
      real_ = arg.real();
    else
      text_ = arg.text();
  }

  explicit operator bool() const { return found_; }
  ArgType type() const { return type_; }
  StringId text() const { return text_; }  // invalid for numbers
  double number(const Trace& trace, double otherwise) const;
  std::int64_t integer(const Trace& trace, std::int64_t otherwise) const;

 private:
  ArgType type_ = ArgType::Integer;
  bool found_ = false;
  std::int64_t integer_ = 0;
  double real_ = 0;
  StringId text_;
};
ArgumentValue find_argument(const Trace& trace, SliceId slice, StringId key);

// All arguments of a slice: its own in the order of the file, then what it shares with others and
// has no argument of its own for. The visitor takes any
// Argument<…>.
template <class Visitor>
void for_each_argument(const Trace& trace, SliceId slice, Visitor&& visit) {
  const auto own =
      trace.arguments().empty() ? std::span<const SliceArg>() : trace.arguments().of(slice);
  for (const SliceArg& arg : own) visit(arg);
  if (trace.shared_arguments().empty()) return;
  for (const SetArg& arg : trace.shared_arguments().of(slice)) {
    const bool hidden = std::any_of(own.begin(), own.end(),
                                    [&](const SliceArg& mine) { return mine.key() == arg.key(); });
    if (!hidden) visit(arg);
  }
}

// The ids 0 … count-1 of a table, for range-for.
template <class AnyId>
class IdRange {
 public:
  explicit IdRange(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {}
  struct Iterator {
    std::uint32_t at;
    AnyId operator*() const { return AnyId(at); }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  Iterator begin() const { return {0}; }
  Iterator end() const { return {count_}; }

 private:
  std::uint32_t count_;
};

inline IdRange<SliceId> all_slices(const Trace& trace) {
  return IdRange<SliceId>(trace.slice_count());
}
inline IdRange<TrackId> all_tracks(const Trace& trace) {
  return IdRange<TrackId>(trace.tracks().size());
}

}  // namespace sonde
