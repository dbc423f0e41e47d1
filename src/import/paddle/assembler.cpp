#include "import/paddle/assembler.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include "base/json_writer.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

constexpr std::uint32_t kNone = PaddleSlice::kNone;

struct MemoryPlace {
  std::int32_t type = 20;  // a device that Sonde has no number for
  std::int32_t device = -1;
};

// "Place(gpu:0)" -> CUDA device 0.
MemoryPlace memory_place(std::string_view place) {
  MemoryPlace out;
  if (place.starts_with("Place(")) place.remove_prefix(6);
  const std::size_t colon = place.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view number = place.substr(colon + 1);
    std::from_chars(number.data(), number.data() + number.size(), out.device);
  }
  if (place.starts_with("cpu"))
    out.type = 0;
  else if (place.starts_with("gpu"))
    out.type = place.starts_with("gpu_pinned") ? 0 : 1;
  else if (place.starts_with("xpu"))
    out.type = 12;
  return out;
}

std::uint64_t track_key(bool stream, std::int64_t a, std::int64_t b) {
  return mix_bits(mix_bits(static_cast<std::uint64_t>(a) * 2 + (stream ? 1 : 0)) ^
                  static_cast<std::uint64_t>(b));
}

}  // namespace

StringId PaddleAssembler::intern(std::string_view text) {
  if (is_utf8(text)) return builder_.intern(text);
  builder_.losses().add("invalid_utf8", Severity::Warning,
                        "Texts with bytes that are no UTF-8; those bytes are shown as U+FFFD.", 1,
                        LossLedger::kNoOffset, text);
  return builder_.intern(mend_utf8(text));
}

TrackId PaddleAssembler::thread(std::int64_t pid, std::int64_t tid) {
  for (std::uint64_t key = track_key(false, pid, tid);; key = mix_bits(key + 1)) {
    const auto known = tracks_.find(key);
    if (known != tracks_.end()) {
      const Track& track = builder_.track(known->second);
      if (track.type == TrackType::Thread && track.pid == pid && track.tid == tid)
        return known->second;
      continue;
    }
    Track track;
    track.pid = pid;
    track.tid = tid;
    return tracks_[key] = builder_.add_track(track);
  }
}

TrackId PaddleAssembler::stream(std::int64_t device, std::int64_t stream) {
  for (std::uint64_t key = track_key(true, device, stream);; key = mix_bits(key + 1)) {
    const auto known = tracks_.find(key);
    if (known != tracks_.end()) {
      const Track& track = builder_.track(known->second);
      if (track.type == TrackType::Stream && track.pid == device && track.tid == stream)
        return known->second;
      continue;
    }
    Track track;
    track.type = TrackType::Stream;
    track.pid = device;
    track.tid = stream;
    track.device = device >= 0 && device <= INT32_MAX ? static_cast<std::int32_t>(device) : -1;
    return tracks_[key] = builder_.add_track(track);
  }
}

void PaddleAssembler::name_thread(std::int64_t tid, std::string_view name) {
  if (!name.empty()) thread_names_[tid] = name;
}

void PaddleAssembler::add_property(std::string_view key, std::string_view value) {
  std::string text;
  append_json_string(text, value);
  builder_.meta().properties.emplace_back(mend_utf8(key), std::move(text));
}

void PaddleAssembler::add_host(PaddleSlice slice, const OperatorRow* row) {
  if (row != nullptr) {
    slice.row = static_cast<std::uint32_t>(operators_.size());
    operators_.push_back(*row);
  }
  host_ = static_cast<std::uint32_t>(slices_.size());
  call_ = kNone;
  slices_.push_back(slice);
}

void PaddleAssembler::add_call(PaddleSlice slice, const LaunchRow& row) {
  slice.owner = host_;
  slice.row = static_cast<std::uint32_t>(launches_.size());
  launches_.push_back(row);
  call_ = static_cast<std::uint32_t>(slices_.size());
  slices_.push_back(slice);
}

void PaddleAssembler::add_device_work(PaddleSlice slice, const DeviceRow& row) {
  const bool of_call =
      call_ != kNone && launches_[slices_[call_].row].correlation == row.correlation;
  slice.owner = of_call ? call_ : kNone;
  slice.row = static_cast<std::uint32_t>(device_rows_.size());
  device_rows_.push_back(row);
  slices_.push_back(slice);
}

void PaddleAssembler::add_memory(PaddleMemory memory) {
  memory.owner = host_;
  memory_.push_back(memory);
}

void PaddleAssembler::finish(unsigned threads) {
  find_calls();
  fit_threads();
  place_memory();
  add_slices();
  add_allocations();
  describe();
  const unsigned wanted = threads != 0 ? threads : std::thread::hardware_concurrency();
  builder_.nest(std::clamp(wanted, 1u, 16u));
  draw_links();
}

// Device work that does not stand behind its call belongs to the last call of its correlation id.
void PaddleAssembler::find_calls() {
  FlatMap<std::uint32_t> calls;
  bool indexed = false;
  for (PaddleSlice& slice : slices_) {
    if (!is_device_work(slice.kind) || slice.owner != kNone) continue;
    if (!indexed) {
      for (std::uint32_t i = 0; i < slices_.size(); ++i) {
        if (slices_[i].kind != SliceKind::Runtime) continue;
        const std::int64_t id = launches_[slices_[i].row].correlation;
        if (id != kNoNumber) calls.set(static_cast<std::uint64_t>(id), i);
      }
      indexed = true;
    }
    const std::int64_t id = device_rows_[slice.row].correlation;
    const std::uint32_t* call =
        id == kNoNumber ? nullptr : calls.find(static_cast<std::uint64_t>(id));
    if (call != nullptr) slice.owner = *call;
  }
}

void PaddleAssembler::add_slices() {
  for (PaddleSlice& slice : slices_) {
    const SliceId id =
        builder_.add_slice(slice.at, slice.duration, slice.track, slice.name, slice.kind);
    if (slice.kind == SliceKind::Runtime)
      builder_.add_launch(id, launches_[slice.row]);
    else if (is_device_work(slice.kind))
      builder_.add_device_work(id, device_rows_[slice.row]);
    else if (slice.row != kNone)
      builder_.add_operator(id, operators_[slice.row]);
    if (slice.category.valid()) builder_.add_category(id, slice.category);
  }
}

void PaddleAssembler::add_allocations() {
  struct Peaks {
    std::int64_t allocated = -1;
    std::int64_t reserved = -1;
  };
  std::unordered_map<std::uint32_t, Peaks> peaks;
  TrackId counters;
  const auto counter_track = [&] {
    if (!counters.valid()) {
      Track track;
      track.type = TrackType::Counter;
      track.name = builder_.intern("memory");
      counters = builder_.add_track(track);
    }
    return counters;
  };
  const auto raise = [&](std::int64_t& known, std::int64_t peak, const char* name,
                         const PaddleMemory& m) {
    if (peak <= known) return;
    known = peak;
    builder_.add_counter(
        {m.time, counter_track(), builder_.intern(name), m.place, static_cast<double>(peak)});
  };
  for (const PaddleMemory& m : memory_) {
    Peaks& known = peaks[m.place.value];
    raise(known.allocated, m.peak_allocated, "peak allocated", m);
    raise(known.reserved, m.peak_reserved, "peak reserved", m);
    if (m.type >= 2) {
      // What the allocator takes from the device is no memory of the program's on top.
      const MarkerId marker =
          builder_.add_marker({m.time, m.track, builder_.intern("[memory]"), 't',
                               builder_.intern(kPaddleMemoryTypes[m.type])});
      builder_.add_argument(MarkerArg(marker, builder_.intern("place"), m.place));
      const std::pair<const char*, std::int64_t> numbers[] = {
          {"addr", static_cast<std::int64_t>(m.address)},
          {"increase_bytes", m.bytes},
          {"current_allocated", m.allocated},
          {"current_reserved", m.reserved}};
      for (const auto& [key, number] : numbers)
        builder_.add_argument(MarkerArg(marker, builder_.intern(key), number));
      continue;
    }
    const MemoryPlace place = memory_place(builder_.text(m.place));
    Allocation allocation;
    allocation.time = m.time;
    allocation.address = m.address;
    allocation.bytes = m.bytes;
    allocation.total_allocated = m.allocated;
    allocation.total_reserved = m.reserved;
    allocation.track = m.track;
    allocation.device_type = place.type;
    allocation.device = place.device;
    allocation.pool = m.place;
    builder_.add_allocation(allocation);
  }
  if (!memory_.empty()) builder_.meta().profile_memory = true;
}

void PaddleAssembler::draw_links() {
  std::uint64_t alone = 0;
  for (std::uint32_t i = 0; i < slices_.size(); ++i) {
    const PaddleSlice& slice = slices_[i];
    const bool device = is_device_work(slice.kind);
    if (slice.owner == kNone) {
      alone += device ? 1 : 0;
    } else if (device) {
      builder_.add_launch_link(SliceId(slice.owner), SliceId(i));
    } else if (slice.kind == SliceKind::Runtime) {
      builder_.add_operator_link(SliceId(slice.owner), SliceId(i));
    }
  }
  builder_.losses().add(
      "device_work_without_launch", Severity::Info,
      "Kernels and copies whose launch call is not in the trace; they belong to no operator.",
      alone);
}

// Names of tracks, and what the events tell about the recording as a whole.
void PaddleAssembler::describe() {
  bool device_work = false;
  for (std::size_t t = 0; t < builder_.track_count(); ++t) {
    Track& track = builder_.track(TrackId(t));
    if (track.type == TrackType::Stream) {
      track.process = builder_.intern("Device " + std::to_string(track.pid) + " (GPU)");
      track.name = builder_.intern("stream " + std::to_string(track.tid));
      device_work = true;
    } else if (track.type == TrackType::Thread) {
      track.process = builder_.intern("Process " + std::to_string(track.pid) + " (CPU)");
      std::string name = "thread " + std::to_string(track.tid);
      const auto known = thread_names_.find(track.tid);
      if (known != thread_names_.end()) name += " (" + known->second + ")";
      track.name = intern(name);
      track.sort_index = track.tid;
    }
  }
  TraceMeta& meta = builder_.meta();
  if (device_work && meta.device_family.empty()) meta.device_family = "CUDA";
  for (const OperatorRow& row : operators_) {
    meta.record_shapes = meta.record_shapes || row.inputs.valid();
    meta.with_stack = meta.with_stack || row.stack.valid();
  }
  meta.file_events = slices_.size() + memory_.size();
}

}  // namespace sonde
