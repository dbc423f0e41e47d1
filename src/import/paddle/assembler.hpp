#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/paddle/event_types.hpp"
#include "trace/builder.hpp"

namespace sonde {

// What the times of a slice are worth.
enum class PaddlePrecision : std::uint8_t {
  Exact,
  Ordered,  // rounded, but no two starts or ends have changed their order
  Rounded,  // each may be off by kPaddleSlack
};
inline constexpr Nanos kPaddleSlack = 1000;

// One slice of either of Paddle's files. `start` and `end` keep the order and the nesting of the
// events; `at` and `duration` are the better numbers, where they differ.
struct PaddleSlice {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Nanos start = 0;
  Nanos end = 0;
  Nanos at = 0;
  Nanos duration = 0;
  StringId name;
  TrackId track;
  StringId category;            // invalid where the kind tells everything
  std::uint32_t owner = kNone;  // of a call its host event, of device work its call
  std::uint32_t row = kNone;    // in the table of its kind
  SliceKind kind = SliceKind::UserRange;
  PaddlePrecision precision = PaddlePrecision::Exact;
};

// What a memory event carries.
struct PaddleMemory {
  Nanos time = 0;  // the earliest that it may be
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  // below 0 for a free
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  std::int64_t peak_allocated = 0;
  std::int64_t peak_reserved = 0;
  StringId place;
  TrackId track;
  std::uint32_t owner = PaddleSlice::kNone;  // the host event that it stands behind in the file
  std::uint8_t type = 0;                     // in kPaddleMemoryTypes
  bool rounded = false;                      // whether the time is but a whole microsecond
};

// Collects the events of a file in its order and makes a trace of them. Events of one thread come
// one behind the other; calls, device work and memory events belong to the host event, or call,
// that stands before them.
class PaddleAssembler {
 public:
  explicit PaddleAssembler(TraceBuilder& builder) : builder_(builder) {}

  // Bytes that are no UTF-8 are mended and counted.
  StringId intern(std::string_view text);

  TrackId thread(std::int64_t pid, std::int64_t tid);
  TrackId stream(std::int64_t device, std::int64_t stream);
  void name_thread(std::int64_t tid, std::string_view name);
  // Work behind this belongs to no host event until one comes.
  void begin_thread() { host_ = call_ = PaddleSlice::kNone; }

  // `row` may be null.
  void add_host(PaddleSlice slice, const OperatorRow* row);
  void add_call(PaddleSlice slice, const LaunchRow& row);
  void add_device_work(PaddleSlice slice, const DeviceRow& row);
  void add_memory(PaddleMemory memory);
  void add_property(std::string_view key, std::string_view value);

  std::vector<PaddleSlice>& slices() { return slices_; }
  std::vector<PaddleMemory>& memory() { return memory_; }
  TraceBuilder& builder() { return builder_; }

  // After the last event: mends rounded times, fills the builder and draws the links. `threads`: 0
  // for as many as the machine has.
  void finish(unsigned threads);

 private:
  void find_calls();
  std::vector<std::vector<std::uint32_t>> hosts_by_thread() const;
  void fit_threads();
  void fit_thread(std::vector<std::uint32_t>& hosts);
  void place_memory();
  void add_slices();
  void add_allocations();
  void draw_links();
  void describe();

  TraceBuilder& builder_;
  std::vector<PaddleSlice> slices_;
  std::vector<PaddleMemory> memory_;
  std::vector<OperatorRow> operators_;
  std::vector<LaunchRow> launches_;
  std::vector<DeviceRow> device_rows_;
  std::unordered_map<std::uint64_t, TrackId> tracks_;
  std::unordered_map<std::int64_t, std::string> thread_names_;
  std::uint32_t host_ = PaddleSlice::kNone;
  std::uint32_t call_ = PaddleSlice::kNone;
};

}  // namespace sonde
