#include "import/tensorflow_json/tensorflow_json.hpp"

#include <cmath>
#include <map>
#include <thread>

#include "import/json/event_splitter.hpp"
#include "import/tensorflow_json/timeline_event.hpp"
#include "import/trace_event/trace_event.hpp"
#include "import/xplane/event_writer.hpp"

namespace sonde {
namespace {

constexpr double kMaxMicros = 3.9e15;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "/job:localhost/…/device:GPU:0 Compute" and the like: processes of TensorFlow 1's timelines.
bool is_old_process(std::string_view name) {
  return name.ends_with(" Compute") || name.ends_with(" Tensors") || name == "Allocators";
}

class TimelineReader {
 public:
  TimelineReader(const ImportInput& input, TraceBuilder& builder)
      : input_(input), builder_(builder), events_(builder), splitter_(input.source) {}

  Result<bool> run() {
    EventBlock block;
    for (;;) {
      Result<bool> more = splitter_.next(block);
      if (!more) return more.error();
      if (!*more) break;
      for (const EventSpan& span : block.events) {
        TimelineEvent event;
        if (parser_.parse(block.event(span), event))
          add(std::move(event));
        else
          builder_.losses().add("malformed_event", Severity::Warning,
                                "Events that are not well-formed JSON; they are passed over.", 1,
                                block.offset + span.begin);
      }
      if (input_.options.progress)
        input_.options.progress({input_.path, block.disk_offset, input_.disk_bytes});
    }
    unsigned threads = input_.options.threads;
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    events_.finish(threads);
    finish();
    return true;
  }

 private:
  void add(TimelineEvent event) {
    if (event.phase == '\0') return;  // the empty object behind the last event
    ++records_;
    switch (event.phase) {
      case 'M':
        name(event);
        return;
      case 'X':
        add_slice(event);
        return;
      case 'C':
        add_counter(event);
        return;
      case 's':
      case 't':
      case 'f':
        builder_.losses().add(
            "data_flow", Severity::Info,
            "Arrows of data between operators of a TensorFlow 1 timeline; they are passed over.");
        return;
      case 'N':
      case 'O':
      case 'D':
        builder_.losses().add(
            "tensor_object", Severity::Info,
            "Lives of tensors in a TensorFlow 1 timeline; they are passed over, the allocators' "
            "counters are kept.");
        return;
      default:
        builder_.losses().add("unknown_phase", Severity::Warning,
                              "Events of a kind that these timelines do not have.");
    }
  }

  void name(const TimelineEvent& event) {
    for (const TimelineEvent::Argument& argument : event.arguments) {
      if (argument.key != "name") continue;
      if (event.name == "process_name")
        processes_[event.pid] = argument.text;
      else if (event.name == "thread_name")
        threads_[{event.pid, event.tid}] = argument.text;
    }
  }

  // Chooses the plane and line; the plane of TensorFlow 1 is that of its device.
  void place(const TimelineEvent& event) {
    const std::pair place(event.pid, event.tid);
    if (place == at_ && placed_) return;
    at_ = place;
    placed_ = true;
    const auto process = processes_.find(event.pid);
    std::string plane =
        process == processes_.end() ? "process " + std::to_string(event.pid) : process->second;
    const auto thread = threads_.find(place);
    std::string line = thread == threads_.end() ? std::to_string(event.tid) : thread->second;
    if (is_old_process(plane)) {
      old_ = true;
      // GPU kernels lie in the processes of streams; the others schedule.
      const bool stream = contains(plane, "stream:") && !contains(plane, "stream:all");
      const std::size_t gpu = plane.find("GPU:");
      const bool copy = contains(plane, "memcpy");
      if (stream || copy) line = "Stream " + plane;
      plane = stream || copy
                  ? "/device:GPU:" + (gpu == std::string::npos ? "0" : digits(plane, gpu + 4))
                  : "/host:CPU";
      // Lanes of each device on their own.
      events_.begin_plane(plane, 0, false);
      const auto lane =
          (static_cast<std::uint64_t>(event.pid) << 12) + static_cast<std::uint64_t>(event.tid);
      events_.begin_line(static_cast<std::int64_t>(lane),
                         stream || copy ? line : process->second + " lane " + line);
      return;
    }
    events_.begin_plane(plane, 0, true);
    events_.begin_line(event.tid, line);
  }

  static std::string digits(const std::string& text, std::size_t at) {
    std::string out;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') out += text[at++];
    return out.empty() ? "0" : out;
  }

  std::vector<Stat> stats_of(const TimelineEvent& event, std::string_view& long_name) {
    std::vector<Stat> out;
    for (const TimelineEvent::Argument& argument : event.arguments) {
      if (argument.key == "long_name") {
        long_name = argument.text;
        continue;
      }
      Stat stat;
      stat.key = events_.key(argument.key);
      if (argument.is_whole) {
        stat.value.type = StatValue::Type::Integer;
        stat.value.integer = argument.whole;
      } else if (argument.is_number) {
        stat.value.type = StatValue::Type::Real;
        stat.value.real = argument.number;
      } else {
        stat.value.type = StatValue::Type::Text;
        stat.value.text = argument.text;
        // Numbers stand in quotes here.
        const std::int64_t whole = stat.value.whole(kNoNumber);
        if (whole != kNoNumber) {
          stat.value.type = StatValue::Type::Integer;
          stat.value.integer = whole;
        }
      }
      out.push_back(stat);
    }
    return out;
  }

  // For times within kMaxMicros.
  static Nanos start_of(const TimelineEvent& event) {
    return event.time_is_whole ? event.whole_time_us * 1000 : std::llround(event.time_us * 1e3);
  }

  void add_slice(TimelineEvent& event) {
    if (!event.has_time || !(std::abs(event.time_us) < kMaxMicros) ||
        !(event.duration_us < kMaxMicros)) {
      builder_.losses().add("bad_time", Severity::Warning,
                            "Events at a time that no clock shows; they are passed over.");
      return;
    }
    if (event.duration_us < 0) {
      event.duration_us = 0;
      builder_.losses().add("negative_duration", Severity::Warning,
                            "Events with a negative duration; they are kept with 0.");
    }
    place(event);
    // The writer makes instants a picosecond long.
    if (event.duration_us <= 1.5e-6) event.duration_us = 0;
    std::string_view long_name;
    const std::vector<Stat> stats = stats_of(event, long_name);
    EventType type;
    if (event.category == "Op") {
      // TensorFlow 1: the node's name is an argument, the event's name is the operator's type.
      std::string node;
      for (const TimelineEvent::Argument& argument : event.arguments) {
        if (argument.key == "name") node = argument.text;
      }
      const std::string full = node.empty() ? event.name : node + ":" + event.name;
      type = events_.make_type(full, event.name);
      if (type.name_class == NameClass::Plain) type.name_class = NameClass::TensorFlowOp;
    } else {
      type = long_name.empty() ? events_.make_type(event.name, {})
                               : events_.make_type(long_name, event.name);
    }
    const Nanos start = start_of(event);
    const Nanos end = event.time_is_whole ? start + std::llround(event.duration_us * 1e3)
                                          : std::llround((event.time_us + event.duration_us) * 1e3);
    const auto duration_ps = static_cast<std::int64_t>(std::llround(event.duration_us * 1e6));
    // Decimals of a double are not exact: what is a nanosecond's error or less is none.
    const bool whole = std::llabs(duration_ps - (end - start) * 1000) <= 1;
    events_.add(type, start, end - start, whole ? (end - start) * 1000 : duration_ps, stats);
  }

  void add_counter(const TimelineEvent& event) {
    if (!event.has_time || !(std::abs(event.time_us) < kMaxMicros)) return;
    TrackId& track = counter_tracks_[event.pid];
    if (!track.valid()) {
      Track fresh;
      fresh.type = TrackType::Counter;
      fresh.pid = event.pid;
      const auto process = processes_.find(event.pid);
      if (process != processes_.end()) fresh.process = events_.text(process->second);
      fresh.name = fresh.process;
      track = builder_.add_track(fresh);
    }
    for (const TimelineEvent::Argument& argument : event.arguments) {
      if (!argument.is_number || argument.number != argument.number) continue;
      builder_.add_counter({start_of(event), track, events_.text(event.name),
                            events_.text(argument.key), argument.number});
    }
  }

  void finish() {
    TraceMeta& meta = builder_.meta();
    meta.format = "tensorflow-json";
    meta.producer = old_ ? "TensorFlow 1 timeline" : "TensorFlow or JAX profiler (trace JSON)";
    meta.input_bytes = splitter_.bytes_read();
    meta.file_events = records_;
    constexpr Nanos kYear2001 = Nanos{1'000'000'000} * 1'000'000'000;
    meta.wall_clock = meta.origin > kYear2001;
    for (std::size_t t = 0; t < builder_.track_count(); ++t) {
      const Track& track = builder_.track(TrackId(t));
      if (track.device < 0 || track.slices == 0) continue;
      bool known = false;
      for (const Device& device : meta.devices) known |= device.id == track.device;
      if (known) continue;
      const bool tpu = contains(builder_.text(track.process), "TPU");
      meta.device_family = tpu ? "TPU" : "CUDA";
      Device device;
      device.id = track.device;
      device.name = tpu ? "TPU" : "GPU";
      meta.devices.push_back(std::move(device));
    }
    builder_.losses().merge(splitter_.losses());
    builder_.losses().merge(input_.source.losses());
  }

  const ImportInput& input_;
  TraceBuilder& builder_;
  EventWriter events_;
  EventSplitter splitter_;
  TimelineParser parser_;
  std::map<std::int64_t, std::string> processes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> threads_;
  std::map<std::int64_t, TrackId> counter_tracks_;
  std::pair<std::int64_t, std::int64_t> at_;
  bool placed_ = false;
  bool old_ = false;
  std::uint64_t records_ = 0;
};

}  // namespace

bool looks_like_tensorflow_json(std::string_view head) {
  if (!looks_like_trace_events(head) || !contains(head, "\"process_name\"")) return false;
  // The derived JSON has planes for processes.
  if (contains(head, "\"highres-ticks\"") &&
      (contains(head, "\"/host:") || contains(head, "\"/device:")))
    return true;
  // TensorFlow 1 begins with the process of the allocators, and names the others by device.
  return contains(head, "\"Allocators\"") &&
         (contains(head, " Compute\"") || contains(head, " Tensors\""));
}

Result<Trace> import_tensorflow_json(const ImportInput& input) {
  TraceBuilder builder;
  TimelineReader reader(input, builder);
  if (Result<bool> read = reader.run(); !read) return read.error();
  return builder.finish();
}

}  // namespace sonde
