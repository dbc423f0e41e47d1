#include "import/paddle/json_reader.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include "import/json/lenient.hpp"
#include "import/paddle/supplement.hpp"

namespace sonde {
namespace {

// Single precision holds whole nanoseconds up to here.
constexpr Nanos kExactNanos = Nanos{1} << 24;

// How far apart two neighbouring numbers in single precision are.
Nanos float_step(Nanos value) {
  const int bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<Nanos>(value, 1))));
  return bits <= 24 ? 1 : Nanos{1} << (bits - 24);
}

std::int32_t small(std::int64_t value) {
  return value >= INT32_MIN && value <= INT32_MAX ? static_cast<std::int32_t>(value) : -1;
}

float narrow(double value) { return std::fabs(value) <= FLT_MAX ? static_cast<float>(value) : -1; }

const PaddleEventType* event_type(std::string_view name) {
  for (const PaddleEventType& type : kPaddleEventTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

// "thread 5002:reader_worker(Python)" -> "reader_worker"
std::string_view thread_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (!text.starts_with("thread ") || colon == std::string_view::npos) return {};
  text.remove_prefix(colon + 1);
  for (const std::string_view lane : {"(Python)", "(C++)"}) {
    if (text.ends_with(lane)) text.remove_suffix(lane.size());
  }
  return text;
}

// Without the {} that Paddle puts behind the last event.
std::string_view without_empty_event(std::string_view text) {
  const auto trim = [&] {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t' ||
                             text.back() == '\r' || text.back() == ','))
      text.remove_suffix(1);
  };
  const std::string_view whole = text;
  trim();
  if (!text.ends_with("{}")) return whole;
  text.remove_suffix(2);
  trim();
  return text.ends_with('}') ? text : whole;
}

constexpr std::int64_t kWrap = std::int64_t{1} << 32;

}  // namespace

void PaddleJsonReader::read(const EventBlock& block) {
  for (const EventSpan& span : block.events) {
    const bool cut = block.last_is_cut && &span == &block.events.back();
    const std::string_view text = block.event(span);
    const std::uint64_t offset = block.offset + span.begin;
    if (!cut && parse_paddle_event(text, event_))
      take(event_, offset, text);
    else
      read_broken(text, offset, cut);
  }
}

// Names are written as they are: a quote in one hides the borders of the events behind it.
void PaddleJsonReader::read_broken(std::string_view text, std::uint64_t offset, bool cut) {
  const std::vector<std::string_view> pieces = split_leniently(text);
  for (const std::string_view& piece : pieces) {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(piece.data() - text.data());
    if (read_piece(piece, at)) continue;
    const bool last = &piece == &pieces.back();
    if (last && read_piece(without_empty_event(piece), at)) continue;
    const EventEnd end = last ? end_of_last_event(piece) : EventEnd{};
    if (end.at != std::string_view::npos &&
        read_piece(without_empty_event(piece.substr(0, end.at)), at)) {
      losses().add("metadata_hidden", Severity::Warning,
                   "Top-level values behind the events, hidden by raw quotes in an event; they "
                   "were passed over.",
                   end.keys_follow ? 1 : 0, at + end.at, piece.substr(end.at));
    } else if (cut && last) {
      losses().add(
          "input_cut", Severity::Warning,
          "The file ends before its JSON does: it was cut. All events before the cut are read.", 1,
          at, piece);
    } else {
      ++events_;
      losses().add("event_unreadable", Severity::Warning,
                   "Events that are not well-formed JSON; they were passed over.", 1, at, piece);
    }
  }
}

bool PaddleJsonReader::read_piece(std::string_view piece, std::uint64_t offset) {
  if (!parse_paddle_event(piece, event_)) {
    mend_quotes(piece, mended_);
    if (!parse_paddle_event(mended_, event_)) return false;
    losses().add("event_mended", Severity::Info,
                 "Events with raw quotes inside of a text; the quotes were taken for a part of it.",
                 1, offset, piece);
  }
  take(event_, offset, piece);
  return true;
}

void PaddleJsonReader::take(const PaddleJsonEvent& event, std::uint64_t offset,
                            std::string_view text) {
  if (event.empty) return;
  ++events_;
  switch (event.phase) {
    case 'X':
      return take_slice(event, offset, text);
    case 'i':
      return take_memory(event, offset, text);
    case 'M':
      if (event.name == "thread_name" && event.tid != kNoNumber)
        assembler_.name_thread(event.tid, paddle_text(thread_name(event.metadata_name), scratch_));
      return;
    case 's':
    case 'f':
      return;  // the arrow from a call to its device work says what the correlation id says
    default:
      losses().add("unknown_phase", Severity::Warning,
                   "Events of a type (ph) that Paddle does not write; they were passed over.", 1,
                   offset, text);
  }
}

TrackId PaddleJsonReader::thread_of(const PaddleJsonEvent& event) {
  const TrackId track = assembler_.thread(event.pid == kNoNumber ? 0 : event.pid,
                                          event.tid == kNoNumber ? 0 : event.tid);
  if (track != last_thread_) assembler_.begin_thread();
  return last_thread_ = track;
}

bool PaddleJsonReader::take_times(const PaddleJsonEvent& event, PaddleSlice& slice,
                                  std::uint64_t offset, std::string_view text) {
  slice.duration = event.duration;
  if (slice.duration == kNoNumber && event.start != kNoNumber && event.end != kNoNumber)
    slice.duration = event.end - event.start;
  if (slice.duration == kNoNumber || slice.duration < 0 || slice.duration > kMaxDuration) {
    losses().add("duration_unusable", Severity::Warning,
                 "Durations that are missing, no number or negative; the events are kept with 0.",
                 1, offset, text);
    slice.duration = 0;
  }
  const bool relative = event.start != kNoNumber && event.start >= 0 &&
                        event.start <= kMaxDuration && event.stamp != kNoNumber;
  if (!relative && event.stamp == kNoNumber) {
    losses().add("time_missing", Severity::Warning, "Events without a time; they were passed over.",
                 1, offset, text);
    return false;
  }
  if (!relative) {
    slice.start = slice.at = event.stamp;
    slice.end = slice.start + slice.duration;
    stamps_.push_back(kNoNumber);
    return true;
  }
  slice.start = slice.at = event.start;
  slice.end = event.end != kNoNumber && event.end >= event.start && event.end <= kMaxDuration * 2
                  ? event.end
                  : event.start + slice.duration;
  // Stamps are whole microseconds, rounded down: the latest start that any of them allows is the
  // nearest one.
  const Nanos first = event.stamp - event.start;
  if (event.start <= kExactNanos &&
      (trace_start_ == kNoNumber || (first > trace_start_ && first < trace_start_ + 1000))) {
    trace_start_ = first;
  }
  stamps_.push_back(event.stamp);
  return true;
}

void PaddleJsonReader::take_slice(const PaddleJsonEvent& event, std::uint64_t offset,
                                  std::string_view text) {
  PaddleSlice slice;
  if (!take_times(event, slice, offset, text)) return;
  const PaddleEventType* type = event_type(event.category);
  slice.name = text_of(paddle_event_name(event.name));
  slice.kind = type != nullptr ? type->kind : SliceKind::UserRange;
  if (type == nullptr || type->keeps_name) slice.category = text_of(event.category);
  if (type == nullptr) {
    losses().add("unknown_category", Severity::Info,
                 "Events of a type that Sonde does not know; they are kept under their own name.");
  }
  if (is_device_work(slice.kind)) return take_device_work(event, slice);
  slice.track = thread_of(event);
  if (slice.kind == SliceKind::Runtime) {
    LaunchRow row;
    row.correlation = event.correlation;
    return assembler_.add_call(slice, row);
  }
  OperatorRow row;
  OperatorInputs inputs;
  const auto filled = [](std::string_view json) { return json.size() > 2; };  // not {}
  if (filled(event.shapes)) inputs.shapes = assembler_.intern(event.shapes);
  if (filled(event.types)) inputs.types = assembler_.intern(event.types);
  if (inputs.shapes.valid() || inputs.types.valid())
    row.inputs = assembler_.builder().intern_inputs(inputs);
  if (!event.stack.empty())
    row.stack = assembler_.intern(paddle_stack(paddle_text(event.stack, scratch_)));
  assembler_.add_host(slice, &row);
}

void PaddleJsonReader::take_device_work(const PaddleJsonEvent& event, PaddleSlice slice) {
  DeviceRow row;
  row.correlation = event.correlation;
  // Copies have no device of their own: it is the pid.
  const std::int64_t device = event.device != kNoNumber ? event.device : event.pid;
  row.device = device == kNoNumber ? -1 : small(device);
  row.context = event.context == kNoNumber ? -1 : small(event.context);
  row.stream = event.stream != kNoNumber ? event.stream : event.tid;
  row.registers = event.registers == kNoNumber ? -1 : small(event.registers);
  row.shared_memory = event.shared_memory == kNoNumber ? -1 : small(event.shared_memory);
  row.bytes = event.bytes;
  if (row.bytes != kNoNumber && row.bytes < 0 && row.bytes >= -kWrap / 2) {
    losses().add(
        "bytes_wrapped", Severity::Info,
        "Byte counts of 2 GiB and more, which Paddle writes as negative numbers; they were "
        "mended, and are right below 4 GiB.");
    row.bytes += kWrap;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    row.grid[i] = small(event.grid[i]);
    row.block[i] = small(event.block[i]);
  }
  row.blocks_per_sm = narrow(event.blocks_per_sm);
  row.warps_per_sm = narrow(event.warps_per_sm);
  row.occupancy = narrow(event.occupancy);
  row.bandwidth = narrow(event.bandwidth);
  slice.track =
      assembler_.stream(device == kNoNumber ? 0 : device, row.stream == kNoNumber ? 0 : row.stream);
  assembler_.add_device_work(slice, row);
}

void PaddleJsonReader::take_memory(const PaddleJsonEvent& event, std::uint64_t offset,
                                   std::string_view text) {
  const auto type = std::find(kPaddleMemoryTypes.begin(), kPaddleMemoryTypes.end(), event.category);
  if (type == kPaddleMemoryTypes.end() || event.stamp == kNoNumber || event.increase == kNoNumber) {
    losses().add(
        "memory_unusable", Severity::Warning,
        "Instants that are no memory events with a time and a size; they were passed over.", 1,
        offset, text);
    return;
  }
  const auto known = [](std::int64_t number) { return number == kNoNumber ? 0 : number; };
  PaddleMemory memory;
  memory.type = static_cast<std::uint8_t>(type - kPaddleMemoryTypes.begin());
  memory.time = event.stamp;
  memory.rounded = true;
  memory.address = static_cast<std::uint64_t>(event.address);
  memory.bytes = event.increase;
  memory.allocated = known(event.allocated);
  memory.reserved = known(event.reserved);
  memory.peak_allocated = known(event.peak_allocated);
  memory.peak_reserved = known(event.peak_reserved);
  memory.place = text_of(event.place);
  memory.track = thread_of(event);
  assembler_.add_memory(memory);
}

// Starts count from the start of the trace. Where a start is too large for single precision, the
// stamp, which is right to a microsecond, tells better.
void PaddleJsonReader::finish() {
  std::vector<PaddleSlice>& slices = assembler_.slices();
  const Nanos origin = trace_start_ == kNoNumber ? 0 : trace_start_;
  std::uint64_t apart = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (stamps_[i] == kNoNumber) continue;
    PaddleSlice& slice = slices[i];
    const Nanos step = float_step(slice.start);
    slice.start += origin;
    slice.end += origin;
    slice.at = slice.start;
    const Nanos off = slice.start - stamps_[i];  // 0 … 999 but for rounding
    if (off < -1000 - step || off > 2000 + step) {
      ++apart;
      slice.end = stamps_[i] + (slice.end - slice.start);
      slice.start = slice.at = stamps_[i];
    } else if (step > kPaddleSlack) {
      slice.start = slice.at = stamps_[i];
      slice.end = slice.start + slice.duration;
      slice.precision = PaddlePrecision::Rounded;
    } else if (step > 1) {
      slice.precision = PaddlePrecision::Ordered;
    }
  }
  losses().add("times_disagree", Severity::Info,
               "Events whose two times, ts and start_time, do not fit together; ts was taken.",
               apart);
}

void PaddleJsonReader::read_metadata(const Metadata& metadata) {
  TraceMeta& meta = assembler_.builder().meta();
  for (const auto& [key, value] : metadata) {
    if (key != "deviceProperties" && key != "ExtraInfo") {
      constexpr std::size_t kMaxKept = 4096;
      meta.properties.emplace_back(key, value.substr(0, kMaxKept));
      if (key == "schemaVersion" && value.size() > 2)
        meta.version = "schema " + value.substr(1, std::min<std::size_t>(value.size() - 2, 32));
      continue;
    }
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(value).get(root) != simdjson::SUCCESS) {
      losses().add("metadata_damaged", Severity::Warning,
                   "A top-level value of the file is not well-formed JSON; it was passed over.", 1,
                   LossLedger::kNoOffset, value);
      continue;
    }
    simdjson::dom::object extra;
    if (key == "ExtraInfo" && root.get(extra) == simdjson::SUCCESS) {
      for (const auto& field : extra) {
        std::string_view text;
        if (field.value.get(text) != simdjson::SUCCESS) continue;
        std::int64_t tid = 0;
        const std::string_view name = field.key;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), tid);
        if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size())
          assembler_.name_thread(tid, text);
        else
          assembler_.add_property(name, text);
      }
    }
    simdjson::dom::array devices;
    if (key == "deviceProperties" && root.get(devices) == simdjson::SUCCESS) {
      for (const simdjson::dom::element entry : devices) {
        const auto number = [&](const char* name) {
          std::int64_t out = 0;
          return entry[name].get(out) == simdjson::SUCCESS ? out : 0;
        };
        Device device;
        std::string_view name;
        if (entry["name"].get(name) == simdjson::SUCCESS) device.name = name;
        device.id = number("id");
        // Above 2 GiB some releases write what is left of it in 32 bits: better no number.
        device.memory_bytes = std::max<std::int64_t>(0, number("totalGlobalMem"));
        device.compute_major = number("computeMajor");
        device.compute_minor = number("computeMinor");
        device.multiprocessors = number("smCount");
        device.max_threads_per_multiprocessor = number("maxThreadsPerMultiprocessor");
        device.warp_size = number("warpSize");
        meta.devices.push_back(std::move(device));
      }
    }
  }
}

}  // namespace sonde
