#include "import/sonde_run/cupti/record_reader.hpp"

#include <algorithm>
#include <string>

#include "import/sonde_run/cupti/labels.hpp"
#include "import/text/utf8.hpp"

namespace sonde::cupti {
namespace {

constexpr std::uint32_t kNoStream = 0xFFFF'FFFF;

std::int32_t small(std::uint32_t number) {
  return number <= INT32_MAX ? static_cast<std::int32_t>(number) : -1;
}

}  // namespace

RecordReader::RecordReader(const FileHeader& header, const CompanionContext& context)
    : header_(header),
      context_(context),
      builder_(context.builder),
      names_(context.builder),
      memory_(context) {}

void RecordReader::add_block(const RecordBlock& block) {
  for (std::size_t at = 0; at + 8 <= block.bytes.size();) {
    const Record record(block.bytes.data() + at, block.offset + at, block.returned);
    const auto word = record.get<std::uint32_t>(0);
    const std::uint32_t kind = word & ~kUnfinished;
    const std::size_t size = kind < kMaxKinds ? header_.record_bytes[kind] : 0;
    const bool whole = size >= least_bytes(static_cast<Kind>(kind)) && size % 8 == 0 &&
                       size <= block.bytes.size() - at;
    if (!whole) {
      // What CUPTI had not filled is empty.
      if (block.returned || kind != 0) {
        lose("gpu_damaged_records", Severity::Warning,
             "Blocks of GPU records that could be read in part only: a record has no size that "
             "makes sense",
             record);
      }
      return;
    }
    ++records_;
    if (!block.returned) ++salvaged_;
    if (word == kind) {
      add_record(static_cast<Kind>(kind), record);
    } else {
      lose_unfinished(record);
    }
    at += size;
  }
}

void RecordReader::add_record(Kind kind, const Record& record) {
  switch (kind) {
    case Kind::Kernel:
    case Kind::ConcurrentKernel:
      return add_kernel(record);
    case Kind::Memcpy:
    case Kind::MemcpyPeer:
      return add_copy(record, kind == Kind::MemcpyPeer);
    case Kind::Memset:
      return add_fill(record);
    case Kind::Runtime:
    case Kind::Driver:
      return add_call(record, kind == Kind::Runtime);
    case Kind::GraphTrace:
      return add_graph(record);
    case Kind::Synchronization:
      return add_sync(record);
    case Kind::Overhead:
      return add_overhead(record);
    case Kind::Memory:
      return add_memory(record);
    case Kind::MemoryPool:
      return add_pool(record);
    case Kind::Context:
    case Kind::Stream:
    case Kind::Device:
      return;  // they say nothing that the header and the work on them do not
    case Kind::ExternalCorrelation:
    case Kind::InternalLaunch:
      break;
  }
  lose("gpu_unknown_records", Severity::Info,
       "GPU records of a kind that this Sonde does not use; they are left out", record);
}

void RecordReader::add_call(const Record& record, bool runtime) {
  const auto thread = record.get<std::uint32_t>(call::kThread);
  if (thread == header_.helper_thread) return;  // the recorder's own
  Window window{};
  if (!window_of(record, call::kStart, call::kEnd, window)) return;
  const SliceId slice =
      builder_.add_slice(window.start, window.duration, context_.tracks.thread(thread),
                         builder_.intern(""), runtime ? SliceKind::Runtime : SliceKind::Driver);
  const auto function = record.get<std::uint32_t>(call::kFunction);
  names_.name_or_wait(slice, runtime ? WorkNames::Key::RuntimeCall : WorkNames::Key::DriverCall,
                      function);
  LaunchRow row;
  row.correlation = record.get<std::uint32_t>(call::kCorrelation);
  row.cbid = function;
  builder_.add_launch(slice, row);
  if (const auto returned = record.get<std::uint32_t>(call::kReturned); returned != 0) {
    builder_.add_argument({slice, builder_.intern("return value"), std::int64_t{returned}});
  }
}

SliceId RecordReader::add_device_slice(const Record& record, const Place& place, StringId name,
                                       SliceKind kind, DeviceRow& row) {
  Window window{};
  if (!window_of(record, place.start, place.end, window)) return {};
  row.device = small(record.get<std::uint32_t>(place.device));
  row.context = small(record.get<std::uint32_t>(place.context));
  row.stream = record.get<std::uint32_t>(place.stream);
  row.correlation = record.get<std::uint32_t>(place.correlation);
  ++device_slices_;
  return builder_.add_slice(window.start, window.duration,
                            context_.tracks.stream(row.device, row.stream), name, kind);
}

void RecordReader::add_graph_arguments(const Record& record, const Place& place, SliceId slice) {
  const auto node = record.get<std::uint64_t>(place.graph_node);
  if (node == 0) return;
  const auto id = record.get<std::uint32_t>(place.graph);
  builder_.add_argument({slice, builder_.intern("graph id"), std::int64_t{id}});
  builder_.add_argument({slice, builder_.intern("graph node id"), static_cast<std::int64_t>(node)});
}

void RecordReader::add_kernel(const Record& record) {
  static constexpr Place kPlace = {kernel::kStart,     kernel::kEnd,    kernel::kDevice,
                                   kernel::kContext,   kernel::kStream, kernel::kCorrelation,
                                   kernel::kGraphNode, kernel::kGraph};
  DeviceRow row;
  const SliceId slice =
      add_device_slice(record, kPlace, builder_.intern(""), SliceKind::Kernel, row);
  if (!slice.valid()) return;
  names_.name_or_wait(slice, record.returned() ? WorkNames::Key::Id : WorkNames::Key::Address,
                      record.get<std::uint64_t>(kernel::kName));
  row.registers = record.get<std::uint16_t>(kernel::kRegisters);
  const auto fixed = std::max(record.get<std::int32_t>(kernel::kStaticShared), 0);
  const auto dynamic = std::max(record.get<std::int32_t>(kernel::kDynamicShared), 0);
  row.shared_memory =
      static_cast<std::int32_t>(std::min<std::int64_t>(std::int64_t{fixed} + dynamic, INT32_MAX));
  LaunchShape shape;
  shape.blocks = shape.threads_per_block = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    row.grid[axis] = record.get<std::int32_t>(kernel::kGrid + 4 * axis);
    row.block[axis] = record.get<std::int32_t>(kernel::kBlock + 4 * axis);
    const auto times = [](std::int64_t a, std::int64_t b) {
      std::int64_t product = 0;
      return b > 0 && !__builtin_mul_overflow(a, b, &product) ? product : 0;
    };
    shape.blocks = times(shape.blocks, row.grid[axis]);
    shape.threads_per_block = times(shape.threads_per_block, row.block[axis]);
  }
  shape.registers_per_thread = row.registers;
  shape.shared_bytes = row.shared_memory;
  Occupancy occupancy;
  if (row.device >= 0 && static_cast<std::uint32_t>(row.device) <
                             std::min<std::uint32_t>(header_.device_count, kMaxDevices)) {
    occupancy = find_occupancy(header_.devices[row.device], shape);
  }
  row.blocks_per_sm = occupancy.blocks_per_sm;
  row.warps_per_sm = occupancy.warps_per_sm;
  row.occupancy = occupancy.kineto_percent;
  builder_.add_device_work(slice, row);
  share_occupancy(slice, occupancy, fixed, dynamic);
  add_graph_arguments(record, kPlace, slice);
}

void RecordReader::share_occupancy(SliceId slice, const Occupancy& occupancy, std::int32_t fixed,
                                   std::int32_t dynamic) {
  const auto [at, added] =
      shapes_.try_emplace({occupancy.active_blocks, occupancy.percent, fixed, dynamic});
  if (added) {
    const ArgumentSetId none;
    std::vector<SetArg> list;
    const auto add = [&](const char* key, auto value) {
      list.emplace_back(none, builder_.intern(key), value);
    };
    if (occupancy.active_blocks >= 0) {
      add("corrected occupancy %", static_cast<double>(occupancy.percent));
      add("active blocks per SM", occupancy.active_blocks);
    }
    add("static shared memory", std::int64_t{fixed});
    add("dynamic shared memory", std::int64_t{dynamic});
    at->second = builder_.intern_arguments(list);
  }
  builder_.share_arguments(slice, at->second);
}

void RecordReader::add_traffic(DeviceRow& row, std::uint64_t bytes, SliceId slice) const {
  if (bytes > INT64_MAX) return;
  row.bytes = static_cast<std::int64_t>(bytes);
  const Nanos duration = builder_.slices().duration(slice);
  if (duration > 0) {
    row.bandwidth = static_cast<float>(static_cast<double>(bytes) / static_cast<double>(duration));
  }
}

void RecordReader::add_copy(const Record& record, bool peer) {
  static constexpr Place kPlace = {copy::kStart,     copy::kEnd,    copy::kDevice,
                                   copy::kContext,   copy::kStream, copy::kCorrelation,
                                   copy::kGraphNode, copy::kGraph};
  static constexpr Place kPeerPlace = {copy::kStart,          copy::kEnd,
                                       copy::kDevice,         copy::kContext,
                                       copy::kStream,         peer_copy::kCorrelation,
                                       peer_copy::kGraphNode, peer_copy::kGraph};
  const Place& place = peer ? kPeerPlace : kPlace;
  const auto kind = record.get<std::uint8_t>(copy::kCopyKind);
  const auto source = record.get<std::uint8_t>(copy::kSourceKind);
  const auto target = record.get<std::uint8_t>(copy::kTargetKind);
  StringId& name = copy_names_[std::uint32_t{kind} << 16 | std::uint32_t{source} << 8 | target];
  if (!name.valid()) name = builder_.intern(copy_name(kind, source, target));
  DeviceRow row;
  const SliceId slice = add_device_slice(record, place, name, SliceKind::Memcpy, row);
  if (!slice.valid()) return;
  add_traffic(row, record.get<std::uint64_t>(copy::kBytes), slice);
  builder_.add_device_work(slice, row);
  add_graph_arguments(record, place, slice);
  if (!peer) return;
  builder_.add_argument({slice, builder_.intern("source device"),
                         std::int64_t{record.get<std::uint32_t>(peer_copy::kSourceDevice)}});
  builder_.add_argument({slice, builder_.intern("target device"),
                         std::int64_t{record.get<std::uint32_t>(peer_copy::kTargetDevice)}});
}

void RecordReader::add_fill(const Record& record) {
  static constexpr Place kPlace = {fill::kStart,     fill::kEnd,    fill::kDevice,
                                   fill::kContext,   fill::kStream, fill::kCorrelation,
                                   fill::kGraphNode, fill::kGraph};
  DeviceRow row;
  const SliceId slice = add_device_slice(
      record, kPlace, builder_.intern(fill_name(record.get<std::uint16_t>(fill::kMemoryKind))),
      SliceKind::Memset, row);
  if (!slice.valid()) return;
  add_traffic(row, record.get<std::uint64_t>(fill::kBytes), slice);
  builder_.add_device_work(slice, row);
  add_graph_arguments(record, kPlace, slice);
}

// A graph that was recorded as a whole: the only sign of the kernels in it.
void RecordReader::add_graph(const Record& record) {
  static constexpr Place kPlace = {graph::kStart,
                                   graph::kEnd,
                                   graph::kDevice,
                                   graph::kContext,
                                   graph::kStream,
                                   graph::kCorrelation,
                                   0,
                                   0};
  DeviceRow row;
  const auto id = record.get<std::uint32_t>(graph::kGraph);
  const SliceId slice = add_device_slice(
      record, kPlace, builder_.intern("CUDA graph " + std::to_string(id)), SliceKind::Kernel, row);
  if (slice.valid()) builder_.add_device_work(slice, row);
}

// Lengths of waiting, as the host saw them: they lie beside the streams, not on them.
void RecordReader::add_sync(const Record& record) {
  Window window{};
  if (!window_of(record, sync::kStart, sync::kEnd, window)) return;
  const StringId lane = builder_.intern("CUDA synchronization");
  const SliceId slice = builder_.add_slice(
      window.start, window.duration, context_.tracks.domain(TrackType::Async, lane),
      builder_.intern(sync_name(record.get<std::uint32_t>(sync::kType))), SliceKind::Sync);
  LaunchRow row;
  row.correlation = record.get<std::uint32_t>(sync::kCorrelation);
  builder_.add_launch(slice, row);
  if (const auto stream = record.get<std::uint32_t>(sync::kStream); stream != kNoStream) {
    builder_.add_argument({slice, builder_.intern("stream"), std::int64_t{stream}});
  }
  if (const auto event = record.get<std::uint32_t>(sync::kEvent);
      event != 0 && event != kNoStream) {
    builder_.add_argument({slice, builder_.intern("event id"), std::int64_t{event}});
  }
}

void RecordReader::add_overhead(const Record& record) {
  Window window{};
  if (!window_of(record, overhead::kStart, overhead::kEnd, window)) return;
  const StringId lane = builder_.intern("CUPTI overhead");
  builder_.add_slice(
      window.start, window.duration, context_.tracks.domain(TrackType::Async, lane),
      builder_.intern(overhead_name(record.get<std::uint32_t>(overhead::kOverheadKind))),
      SliceKind::Overhead);
}

void RecordReader::add_memory(const Record& record) {
  Allocation allocation;
  if (!to_nanos(record.get<std::uint64_t>(memory::kTime), allocation.time)) {
    return lose("gpu_bad_times", Severity::Warning,
                "GPU records whose times make no sense; they are left out", record);
  }
  const auto kind = record.get<std::uint32_t>(memory::kMemoryKind);
  const auto bytes = static_cast<std::int64_t>(
      std::min<std::uint64_t>(record.get<std::uint64_t>(memory::kBytes), INT64_MAX));
  const bool on_host = kind == 1 || kind == 2;
  allocation.address = record.get<std::uint64_t>(memory::kAddress);
  allocation.bytes = record.get<std::uint32_t>(memory::kOperation) == 2 ? -bytes : bytes;
  allocation.device_type = on_host ? 0 : 1;
  allocation.device = on_host ? 0 : small(record.get<std::uint32_t>(memory::kDevice));
  allocation.pool = builder_.intern(memory_kind(kind));
  allocation.track = context_.tracks.domain(TrackType::Async, builder_.intern("CUDA memory"));
  memory_.add(allocation);
}

void RecordReader::add_pool(const Record& record) {
  Marker marker;
  if (!to_nanos(record.get<std::uint64_t>(pool::kTime), marker.time)) return;
  const auto operation = record.get<std::uint32_t>(pool::kOperation);
  marker.track = context_.tracks.domain(TrackType::Async, builder_.intern("CUDA memory"));
  marker.name = builder_.intern(operation == 1   ? "memory pool created"
                                : operation == 2 ? "memory pool destroyed"
                                                 : "memory pool trimmed");
  marker.scope = 'p';
  const MarkerId id = builder_.add_marker(marker);
  builder_.add_argument(
      {id, builder_.intern("device"), std::int64_t{record.get<std::uint32_t>(pool::kDevice)}});
  builder_.add_argument({id, builder_.intern("bytes"),
                         static_cast<std::int64_t>(record.get<std::uint64_t>(pool::kSize))});
}

bool RecordReader::to_nanos(std::uint64_t time, Nanos& out) const {
  if (time == 0) return false;
  if (header_.clock == Clock::Ticks) return context_.clock.to_nanos(time, out);
  if (!context_.clock.wall_known() || time > static_cast<std::uint64_t>(kMaxTime)) return false;
  out = static_cast<Nanos>(time) - context_.clock.wall_base();
  return out > -kMaxTime && out < kMaxTime;
}

bool RecordReader::window_of(const Record& record, std::size_t start, std::size_t end,
                             Window& out) {
  Nanos last = 0;
  const auto ended = record.get<std::uint64_t>(end);
  if (ended == 0) {
    lose_unfinished(record);
    return false;
  }
  const bool good = to_nanos(record.get<std::uint64_t>(start), out.start) &&
                    to_nanos(ended, last) && last >= out.start && last - out.start <= kMaxDuration;
  if (!good) {
    lose("gpu_bad_times", Severity::Warning,
         "GPU records whose times make no sense; they are left out", record);
    return false;
  }
  out.duration = last - out.start;
  return true;
}

void RecordReader::lose_unfinished(const Record& record) {
  lose("gpu_unfinished", Severity::Warning,
       "GPU work and calls whose end was not known yet when the program ended; they are left out",
       record);
}

void RecordReader::finish() {
  names_.finish();
  memory_.finish();
}

void RecordReader::lose(const char* name, Severity severity, const char* sentence,
                        const Record& record) {
  builder_.losses().add(name, severity, sentence, 1, record.offset());
}

}  // namespace sonde::cupti
