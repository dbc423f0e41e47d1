#include "import/onnxruntime/onnxruntime.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <thread>

#include "base/json_writer.hpp"
#include "import/json/event_splitter.hpp"
#include "import/json/lenient.hpp"
#include "import/onnxruntime/event.hpp"
#include "import/text/utf8.hpp"
#include "import/trace_event/correlation.hpp"

namespace sonde {
namespace onnxruntime {
namespace {

constexpr std::uint64_t kMostEvents = 1'000'000;  // ONNX Runtime stops there

bool whole_number(std::string_view text, std::int64_t& out) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

class Assembler {
 public:
  explicit Assembler(TraceBuilder& builder) : builder_(builder), names_(builder) {}

  void add(const Event& event) {
    ++events_;
    Nanos start = 0;
    Nanos duration = 0;
    if (!micros_to_nanos(event.time, start)) {
      return lose("time_unusable",
                  "Events whose time is no number that a clock can show; they were passed over.");
    }
    if (!micros_to_nanos(event.duration, duration) || duration < 0 || duration > kMaxDuration) {
      lose("duration_unusable", "Events without a sensible duration; they are kept with 0.");
      duration = 0;
    }
    const std::string name = text_of(event.name);
    const std::string_view category = event.category.text;
    if (category == "Node") {
      add_node(event, name, start, duration);
    } else if (category == "Kernel") {
      add_kernel(event, name, start, duration);
    } else if (category == "Api") {
      const SliceId slice = builder_.add_slice(start, duration, thread(event), names_.intern(name),
                                               SliceKind::Runtime);
      builder_.add_launch(slice, LaunchRow());
      add_arguments(event, slice);
    } else if (category == "Session" && name == "model_run") {
      // One run of the model is what a step is elsewhere.
      const SliceId slice = builder_.add_slice(
          start, duration, thread(event), builder_.intern("model_run#" + std::to_string(++runs_)),
          SliceKind::Step);
      builder_.add_operator(slice, OperatorRow());
      add_arguments(event, slice);
    } else {
      const bool session = category == "Session";
      const SliceId slice = builder_.add_slice(start, duration, thread(event), names_.intern(name),
                                               session ? SliceKind::Api : SliceKind::Other);
      builder_.add_category(slice, names_.intern(text_of(event.category)));
      add_arguments(event, slice);
    }
  }

  std::uint64_t events() const { return events_; }
  const std::map<std::string, std::uint64_t>& providers() const { return providers_; }

 private:
  static std::string text_of(const RawString& raw) {
    std::string out;
    if (raw.has_escapes)
      unescape_json(raw.text, out);
    else
      out = raw.text;
    return out;
  }
  static std::string_view find(const Event& event, std::string_view key) {
    for (const EventArgument& argument : event.arguments) {
      if (argument.key == key) return argument.value;
    }
    return {};
  }

  void lose(const char* name, const char* sentence) {
    builder_.losses().add(name, Severity::Warning, sentence);
  }

  TrackId thread(const Event& event) {
    const auto [at, added] = threads_.try_emplace({event.pid, event.tid});
    if (added) {
      Track track;
      track.pid = event.pid;
      track.tid = event.tid;
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  TrackId stream(const Event& event, std::int64_t number) {
    const auto [at, added] = streams_.try_emplace({event.pid, number});
    if (added) {
      Track track;
      track.type = TrackType::Stream;
      track.pid = event.pid;
      track.tid = number;
      track.device = 0;
      track.name = builder_.intern("stream " + std::to_string(number));
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  // "mm0_kernel_time" is the node mm0 at work; the fences around it are waits.
  void add_node(const Event& event, std::string_view name, Nanos start, Nanos duration) {
    constexpr std::string_view kTime = "_kernel_time";
    const std::string_view type = find(event, "op_name");
    if (!name.ends_with(kTime)) {
      const SliceId slice =
          builder_.add_slice(start, duration, thread(event), names_.intern(name), SliceKind::Other);
      builder_.add_category(slice, builder_.intern("Node"));
      return add_arguments(event, slice);
    }
    const std::string_view node = name.substr(0, name.size() - kTime.size());
    const SliceId slice =
        builder_.add_slice(start, duration, thread(event),
                           names_.intern(type.empty() ? node : type), SliceKind::Operator);
    OperatorRow row;
    OperatorInputs inputs;
    std::string shapes;
    std::string types;
    if (split_type_shapes(find(event, "input_type_shape"), shapes, types)) {
      inputs.shapes = names_.intern(shapes);
      inputs.types = names_.intern(types);
      row.inputs = builder_.intern_inputs(inputs);
      builder_.meta().record_shapes = true;
    }
    builder_.add_operator(slice, row);
    builder_.add_argument({slice, builder_.intern("node"), names_.intern(node)});
    add_arguments(event, slice);
    if (const std::string_view provider = find(event, "provider"); !provider.empty()) {
      ++providers_[mend_utf8(provider.substr(0, 100))];
    }
    for (const std::string_view key : {"mem_bytes_in_use", "mem_arena_held"}) {
      std::int64_t bytes = 0;
      if (!whole_number(find(event, key), bytes)) continue;
      CounterValue value;
      value.time = start + duration;
      value.track = thread(event);
      value.counter = builder_.intern(key);
      value.value = static_cast<double>(bytes);
      builder_.add_counter(value);
    }
  }

  void add_kernel(const Event& event, std::string_view name, Nanos start, Nanos duration) {
    DeviceRow row;
    std::int64_t number = 0;
    row.device = 0;
    row.stream = whole_number(find(event, "stream"), number) ? number : 0;
    const auto small = [&](std::string_view key) {
      std::int64_t value = 0;
      const bool fits = whole_number(find(event, key), value) && value >= 0 && value <= INT32_MAX;
      return fits ? static_cast<std::int32_t>(value) : -1;
    };
    row.grid = {small("grid_x"), small("grid_y"), small("grid_z")};
    row.block = {small("block_x"), small("block_y"), small("block_z")};
    SliceKind kind = SliceKind::Kernel;
    if (name.starts_with("Memcpy") || name.starts_with("memcpy")) kind = SliceKind::Memcpy;
    if (name.starts_with("Memset") || name.starts_with("memset")) kind = SliceKind::Memset;
    for (const std::string_view key : {"bytes", "copy_bytes", "size"}) {
      if (kind != SliceKind::Kernel && whole_number(find(event, key), number) && number >= 0) {
        row.bytes = number;
        break;
      }
    }
    const SliceId slice =
        builder_.add_slice(start, duration, stream(event, row.stream), names_.intern(name), kind);
    builder_.add_device_work(slice, row);
    for (const EventArgument& argument : event.arguments) {
      const bool taken = argument.key == "stream" || argument.key.starts_with("grid_") ||
                         argument.key.starts_with("block_");
      if (!taken) add_argument(argument, slice);
    }
  }

  void add_arguments(const Event& event, SliceId slice) {
    for (const EventArgument& argument : event.arguments) {
      if (argument.key == "op_name" || argument.key == "input_type_shape") {
        if (builder_.slices().kind(slice) == SliceKind::Operator) continue;  // name and inputs
      }
      add_argument(argument, slice);
    }
  }

  void add_argument(const EventArgument& argument, SliceId slice) {
    const StringId key = names_.intern(argument.key);
    if (argument.key == "thread_scheduling_stats") {
      SchedulingStats stats;
      if (read_scheduling_stats(argument.value, stats)) return add_scheduling(stats, slice);
    }
    std::int64_t number = 0;
    if (whole_number(argument.value, number)) {
      builder_.add_argument({slice, key, number});
    } else if (argument.quoted) {
      builder_.add_argument(
          {slice, key, names_.intern(text_of({argument.value, argument.has_escapes}))});
    } else {
      builder_.add_argument({slice, key, names_.intern(argument.value), ArgType::Json});
    }
  }

  // The list of all helper threads would be the largest part of most profiles: its sums are kept.
  void add_scheduling(const SchedulingStats& stats, SliceId slice) {
    for (const auto& [key, value] : stats.main_thread) {
      builder_.add_argument({slice, names_.intern("main_thread " + key), value});
    }
    builder_.add_argument({slice, builder_.intern("sub_threads"), stats.sub_threads});
    builder_.add_argument({slice, builder_.intern("sub_threads num_run"), stats.sub_thread_runs});
  }

  TraceBuilder& builder_;
  NamePool names_;
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> streams_;
  std::map<std::string, std::uint64_t> providers_;
  std::uint64_t events_ = 0;
  std::uint64_t runs_ = 0;
};

// Node names are not escaped by the writer: quotes in them hide where an event ends.
void add_broken(std::string_view text, std::uint64_t offset, bool cut, Assembler& assembler,
                LossLedger& losses) {
  const std::vector<std::string_view> pieces = split_leniently(text);
  Event event;
  std::string mended;
  for (const std::string_view& piece : pieces) {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(piece.data() - text.data());
    if (parse_event(piece, event)) {
      assembler.add(event);
      continue;
    }
    mend_quotes(piece, mended);
    if (parse_event(mended, event)) {
      assembler.add(event);
      losses.add("event_mended", Severity::Info,
                 "Events with raw quotes inside of a text; the quotes were taken for a part of it.",
                 1, at, piece);
    } else if (cut && &piece == &pieces.back()) {
      losses.add(
          "input_cut", Severity::Warning,
          "The file ends before its JSON does: it was cut. All events before the cut are read.", 1,
          at, piece);
    } else {
      losses.add("event_unreadable", Severity::Warning,
                 "Events that are not well-formed JSON; they were passed over.", 1, at, piece);
    }
  }
}

}  // namespace
}  // namespace onnxruntime

bool looks_like_onnxruntime(std::string_view head) {
  std::size_t at = 0;
  const auto take = [&](std::string_view text) {
    while (at < head.size() &&
           (head[at] == ' ' || head[at] == '\n' || head[at] == '\r' || head[at] == '\t')) {
      ++at;
    }
    if (!head.substr(at).starts_with(text)) return false;
    at += text.size();
    return true;
  };
  if (head.starts_with("\xEF\xBB\xBF")) at = 3;
  if (!take("[") || !take("{") || !take("\"cat\"") || !take(":")) return false;
  const bool category =
      take("\"Session\"") || take("\"Node\"") || take("\"Kernel\"") || take("\"Api\"");
  // The order of the members is the writer's own.
  return category && take(",") && take("\"pid\"");
}

Result<Trace> import_onnxruntime(const ImportInput& input) {
  using namespace onnxruntime;
  TraceBuilder builder;
  EventSplitter splitter(input.source);
  Assembler assembler(builder);
  EventBlock block;
  Event event;
  for (;;) {
    Result<bool> more = splitter.next(block);
    if (!more) return more.error();
    if (!*more) break;
    for (std::size_t i = 0; i < block.events.size(); ++i) {
      const std::string_view text = block.event(block.events[i]);
      if (parse_event(text, event)) {
        assembler.add(event);
      } else {
        add_broken(text, block.offset + block.events[i].begin,
                   block.last_is_cut && i + 1 == block.events.size(), assembler, builder.losses());
      }
    }
    if (input.options.progress) {
      input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
    }
  }
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  builder.nest(threads);
  link_by_correlation(builder);

  TraceMeta& meta = builder.meta();
  meta.format = "onnxruntime";
  meta.producer = "ONNX Runtime";
  meta.input_bytes = splitter.bytes_read();
  meta.file_events = assembler.events();
  if (!builder.device_work().empty()) meta.device_family = "CUDA";
  if (!assembler.providers().empty()) {
    JsonWriter json;
    json.begin_object();
    for (const auto& [name, nodes] : assembler.providers()) json.member(name, nodes);
    json.end_object();
    meta.properties.emplace_back("nodes_by_provider", json.take());
  }
  builder.losses().merge(splitter.losses());
  builder.losses().merge(input.source.losses());
  builder.losses().add(
      "event_limit", Severity::Warning,
      "The profile holds a million events, the most that ONNX Runtime keeps: later "
      "ones are missing.",
      assembler.events() >= kMostEvents ? 1 : 0);
  builder.losses().add("no_events", Severity::Warning, "The profile holds no event.",
                       assembler.events() == 0 ? 1 : 0);
  return builder.finish();
}

}  // namespace sonde
